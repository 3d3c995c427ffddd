package shell

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// writeWithin is how long a process may take to read its input.
const writeWithin = 5 * time.Second

// maxTyped bounds how much of a process's input is remembered, in bytes.
const maxTyped = 8 << 10

// Write is the tool shell_write. Input can make a program do anything that it is able to do, so every call needs
// approval.
type Write struct{ followUp }

type typed struct {
	ID, Text, Why string
	EOF           bool
}

// typed returns the input of a call, its process, and what a decision about it is bound to.
func (t *Write) typed(call tool.Call) (in typed, j *job, bind string, err error) {
	if err := call.Read(&in); err != nil {
		return in, nil, "", err
	}
	if in.Text == "" && !in.EOF {
		return in, nil, "", fmt.Errorf("%w: /text: there is nothing to type", tool.ErrInput)
	}
	if j, err = t.sh.job(call.Run, in.ID); err != nil {
		return in, nil, "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%t\x00%s", j.id, j.bind, in.EOF, in.Text))
	return in, j, hex.EncodeToString(sum[:]), nil
}

// ShellText implements [tool.ShellTexter]. It includes the earlier input of the process, because a command may be
// typed in pieces.
func (t *Write) ShellText(call tool.Call) string {
	var in typed
	_ = json.Unmarshal(call.Input, &in) // invalid input is not typed
	j, err := t.sh.job(call.Run, in.ID)
	if err != nil {
		return in.Text
	}
	j.typing.Lock()
	defer j.typing.Unlock()
	return j.typed + in.Text
}

// Explain implements [tool.Explainer].
func (t *Write) Explain(call tool.Call) (tool.Explanation, error) {
	in, j, bind, err := t.typed(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	out, err := tool.Describe(WriteName, struct {
		ID, Command, Why string
		Text, Enter, EOF bool
	}{
		j.id, oneLine(tool.Shorten(j.command, 300)), oneLine(in.Why),
		in.Text != "" && in.Text != "\n", strings.HasSuffix(in.Text, "\n"), in.EOF,
	})
	out.Bind = bind
	if in.Text != "\n" { // pressing Enter alone is described in words
		out.Exact = in.Text
	}
	return out, err
}

// Invoke implements [tool.Tool].
func (t *Write) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in, j, bind, err := t.typed(call)
	if err != nil {
		return tool.Result{}, err
	}
	if call.Bind != "" && call.Bind != bind {
		return tool.Result{}, errChanged
	}
	j.typing.Lock()
	defer j.typing.Unlock()
	select {
	case <-j.done:
		return tool.Result{}, errors.New("the process has ended; shell_read shows its output")
	default:
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	n := 0
	if in.Text != "" {
		if err = j.stdin.SetWriteDeadline(time.Now().Add(writeWithin)); err == nil {
			n, err = j.stdin.WriteString(in.Text)
			j.typed += in.Text[:n]
			j.typed = j.typed[max(0, len(j.typed)-maxTyped):]
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tool.Result{}, fmt.Errorf("the process does not read; it took %d of %d bytes", n, len(in.Text))
	case err != nil:
		return tool.Result{}, fmt.Errorf("the process takes no input (any more); it took %d of %d bytes", n, len(in.Text))
	}
	if in.EOF {
		_ = j.stdin.Close() // closing it twice is harmless
	}
	doc, err := plainjson.Append(nil, map[string]any{"id": j.id, "typedBytes": n})
	return tool.Result{Output: doc, Summary: fmt.Sprintf("typed %d bytes into %s", n, j.id)}, err
}
