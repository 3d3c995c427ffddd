package agentdir

import (
	"fmt"
	"sync"
)

// Warned is what repeated looks at files have said last. The log may be one of the files that are watched, so that a
// warning at every look would cause the next one. It is safe for concurrent use.
type Warned struct {
	mu    sync.Mutex
	words map[string]string
}

// News reports whether a finding about something differs from the last one. It is called without a finding when all is
// well.
func (t *Warned) News(about string, finding ...any) bool {
	words := fmt.Sprint(finding...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.words[about] == words {
		return false
	}
	if t.words == nil {
		t.words = map[string]string{}
	}
	t.words[about] = words
	return true
}
