package shell

import (
	"context"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// readMost is how many bytes one call of shell_read returns.
const readMost = 6 << 10

// Read is the tool shell_read.
type Read struct{ followUp }

// Invoke implements [tool.Tool].
func (t *Read) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		ID   string
		From *int64
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	j, err := t.sh.job(call.Run, in.ID)
	if err != nil {
		return tool.Result{}, err
	}
	_ = j.watched.check(ctx) // its findings are in the state, and withhold output
	now := t.sh.state(j)     // read before the output, so that the output of an ended process is complete
	from := t.sh.readSoFar(j)
	if in.From != nil {
		from = *in.From
	}
	last := j.printed()
	data, at := j.out.read(min(from, last), readMost)
	data = data[:max(0, min(int64(len(data)), last-at))]
	if now.State == "running" {
		data = tool.WholeRunes(data)
	}
	next := at + int64(len(data))
	t.sh.wasRead(j, at, next)
	out := struct {
		state
		From   int64  `json:"from"`
		Output string `json:"output"`
		Next   int64  `json:"next"`
		Missed int64  `json:"missedBytes,omitempty"`
		More   bool   `json:"more,omitempty"`
		Whole  string `json:"whole,omitempty"`
	}{
		state: now, From: at, Output: strings.ToValidUTF8(string(data), "\uFFFD"), Next: next, Missed: max(0, at-from), More: next < last,
	}
	if now.State != "running" { // before, what is stored may not be checked yet
		out.Whole = j.kept.known()
	}
	out.Unread = 0
	doc, err := plainjson.Append(nil, out)
	return tool.Result{Output: doc}, err
}

func (s *Shell) readSoFar(j *job) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return j.read
}
