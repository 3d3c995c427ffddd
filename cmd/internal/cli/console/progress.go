package console

import (
	"fmt"
	"time"
)

// soon is how long work may take before its progress is shown.
const soon = 400 * time.Millisecond

// Progress shows how far long work has come on the last line of a terminal, at most ten times a second, until all is
// done. Elsewhere it shows nothing.
func (a *Console) Progress(what string) func(done, of int) {
	if !IsTerminal(a.Stderr) {
		return func(int, int) {}
	}
	began, shown := time.Now(), time.Time{}
	return func(done, of int) {
		switch now := time.Now(); {
		case done == of && !shown.IsZero():
			_, _ = fmt.Fprint(a.Stderr, "\r\x1b[K") // nowhere else to report an error
		case done < of && now.Sub(began) > soon && now.Sub(shown) >= 100*time.Millisecond:
			shown = now
			_, _ = fmt.Fprintf(a.Stderr, "\r%d/%d %s", done, of, what)
		}
	}
}

// Patience says on a terminal what is being done, if it takes long. The caller calls done at the end.
func (a *Console) Patience(english, chinese string) (done func() bool) {
	if !IsTerminal(a.Stderr) {
		return func() bool { return false }
	}
	return time.AfterFunc(soon, func() { a.Say("%s", a.Text(english, chinese)) }).Stop
}
