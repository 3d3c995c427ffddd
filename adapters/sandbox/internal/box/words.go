//go:build linux

package box

import (
	"io"
	"os/exec"
	"reflect"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// words passes output on, and keeps its beginning until stopped, for the error message of a sandbox that cannot be
// set up.
type words struct {
	to   io.Writer
	mu   sync.Mutex
	head []byte
	done bool
}

// listen connects the output of a process.
func listen(cmd *exec.Cmd, s sandbox.Spec) *words {
	w := &words{to: s.Stderr}
	if w.to == nil {
		w.to = io.Discard
	}
	cmd.Stdout, cmd.Stderr = s.Stdout, w
	if same(s.Stdout, s.Stderr) {
		cmd.Stdout = w // one stream, in the order of the writes
	}
	return w
}

func same(a, b io.Writer) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && a == b
}

func (w *words) Write(p []byte) (int, error) {
	const most = 1 << 10
	w.mu.Lock()
	if room := most - len(w.head); room > 0 && !w.done {
		w.head = append(w.head, p[:min(len(p), room)]...)
	}
	w.mu.Unlock()
	return w.to.Write(p)
}

func (w *words) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.head, w.done = nil, true
}

func (w *words) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.head))
}
