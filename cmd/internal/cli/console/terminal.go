package console

import (
	"fmt"
	"strings"
	"time"

	"rsc.io/qr"
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

// QRCode is a QR code in half-block characters, or "" if the text is too long for one.
func QRCode(text string) string {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return ""
	}
	const quiet = 2
	var out strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			switch up, down := code.Black(x, y), code.Black(x, y+1); {
			case up && down:
				out.WriteRune(' ')
			case up:
				out.WriteRune('▄')
			case down:
				out.WriteRune('▀')
			default:
				out.WriteRune('█')
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}
