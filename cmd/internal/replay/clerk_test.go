package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// header is the first part of a user turn as the model reads it.
type header struct {
	Time string `json:"t"`
	From string `json:"from"`
	User string `json:"user"`
	Msg  string `json:"msg"`
	// Answers is the message that the turn answers.
	Answers string `json:"answers"`
}

// clerk is the model: it answers each user turn that it has not answered yet, by
// its message id and its sender. Some answers take long, so that turns arrive
// meanwhile, and some leave a step for later by not being final.
type clerk struct{}

var _ model.Model = clerk{}

func (clerk) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if len(req.Tools) == 0 { // the host wants notes for the memory: there is nothing to note
			for _, e := range append(modeltest.TextEvents("{}"), modeltest.Finish("stop")) {
				if !yield(e, nil) {
					return
				}
			}
			return
		}
		open := unanswered(req.Messages)
		think := time.NewTimer(thinking(open))
		defer think.Stop()
		select {
		case <-think.C:
		case <-ctx.Done():
			yield(model.Event{}, context.Cause(ctx))
			return
		}
		for _, e := range answer(open, offers(req, "chat_send")) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// offers reports whether a tool is offered.
func offers(req model.Request, name string) bool {
	return slices.ContainsFunc(req.Tools, func(t model.ToolSpec) bool { return t.Name == name })
}

func answer(open []header, byTool bool) []model.Event {
	switch {
	case len(open) == 0:
		return append(modeltest.TextEvents("Nothing else."), modeltest.Finish("stop"))
	case !byTool:
		pieces := make([]string, len(open))
		for i, h := range open {
			pieces[i] = quoted(h) + "\n"
		}
		return append(modeltest.TextEvents(pieces...), modeltest.Finish("stop"))
	}
	text := make([]string, len(open))
	for i, h := range open {
		text[i] = quoted(h)
	}
	input, err := json.Marshal(map[string]any{"text": strings.Join(text, "\n"), "final": number(open[0])%4 != 0})
	if err != nil {
		return nil // Unreachable: a string and a bool
	}
	call := modeltest.Call{ID: "call_" + open[0].Msg, Name: "chat_send", Input: string(input)}
	return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
}

// quoted is the answer to one turn. It names its sender by id, as nicks hold anything.
func quoted(h header) string { return fmt.Sprintf("re %s for %s", h.Msg, h.User) }

var quotation = regexp.MustCompile(`re (\w+) for (\w+)`)

func quotes(text string) []header {
	var out []header
	for _, m := range quotation.FindAllStringSubmatch(text, -1) {
		out = append(out, header{Msg: m[1], User: m[2]})
	}
	return out
}

// number decides how an answer goes.
func number(h header) int64 {
	n, err := strconv.ParseInt(h.Msg, 10, 64)
	if err != nil { // not every platform counts its messages
		return int64(crc32.ChecksumIEEE([]byte(h.Msg)))
	}
	return n
}

// thinking is how long an answer takes.
func thinking(open []header) time.Duration {
	if len(open) == 0 {
		return 0
	}
	switch n := number(open[0]); {
	case n%11 == 0:
		return 600 * time.Millisecond
	case n%3 == 0:
		return 120 * time.Millisecond
	default:
		return time.Duration(n%5) * time.Millisecond
	}
}

// unanswered are the user turns that no answer quotes, in their order.
func unanswered(history []modelmessage.Message) []header {
	done := map[string]bool{}
	for _, m := range history {
		if m.Role != modelmessage.RoleAssistant {
			continue
		}
		for _, p := range m.Parts {
			for _, h := range quotes(words(p)) {
				done[h.Msg] = true
			}
		}
	}
	var out []header
	for _, m := range history {
		if m.Role != modelmessage.RoleUser {
			continue
		}
		h, ok := headerOf(m)
		if ok && !done[h.Msg] {
			out = append(out, h)
		}
	}
	return out
}

func words(p modelmessage.Part) string {
	if text, ok := p.(modelmessage.Text); ok {
		return text.Text
	}
	var in struct {
		Text string `json:"text"`
	}
	if call, ok := p.(modelmessage.ToolCall); ok {
		_ = json.Unmarshal(call.Input, &in) // none: it says nothing
	}
	return in.Text
}

func headerOf(m modelmessage.Message) (h header, ok bool) {
	if len(m.Parts) == 0 {
		return h, false
	}
	first, ok := m.Parts[0].(modelmessage.Text)
	return h, ok && json.Unmarshal([]byte(first.Text), &h) == nil
}
