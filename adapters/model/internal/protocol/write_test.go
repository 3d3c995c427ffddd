package protocol_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// plain writes the texts of a request.
type plain struct{}

func (plain) AppendHead(dst []byte, _ model.Request) []byte { return append(dst, "head;"...) }

func (plain) AppendStart(dst []byte, req model.Request) []byte {
	return append(append(dst, req.System...), ';')
}

func (plain) AppendMessage(_ context.Context, dst []byte, at protocol.Mark, m modelmessage.Message) ([]byte, protocol.Mark, error) {
	return append(append(dst, m.Text...), ';'), at, nil
}

func TestRequestsAfterARestSayWhatTheyShare(t *testing.T) {
	user := func(text string) modelmessage.Message {
		return modelmessage.Message{Role: modelmessage.RoleUser, Text: text}
	}
	first := model.Request{System: "be brief", Messages: []modelmessage.Message{user("one")}}
	grown := model.Request{System: "be brief", Messages: []modelmessage.Message{user("one"), user("two")}}
	for _, tt := range []struct {
		name  string
		next  model.Request
		rests int
		want  int
	}{
		{"active", grown, 0, len("head;be brief;one;")},
		{"rested", grown, 1, len("head;be brief;one;")},
		{"rested twice", grown, 2, len("head;be brief;one;")},
		{"the same again", first, 1, len("head;be brief;one;")},
		{"another system", model.Request{System: "be long", Messages: grown.Messages}, 1, 0},
		{"another beginning", model.Request{System: "be brief", Messages: []modelmessage.Message{user("1"), user("two")}}, 1, 0},
		{"shorter", model.Request{System: "", Messages: first.Messages}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := protocol.Writer{Form: plain{}, Prompter: &protocol.Prompter{}}
			memo := new(model.Memo)
			first, next := first, tt.next
			first.Memo, next.Memo = memo, memo
			before, err := w.Write(t.Context(), first)
			stdtest.Must(t, err)
			for range tt.rests {
				memo.Rest()
			}
			after, err := w.Write(t.Context(), next)
			stdtest.Must(t, err)
			if after.Shared != tt.want {
				t.Errorf("%d bytes are said to be shared, want %d", after.Shared, tt.want)
			}
			all, old := append(bytes.Clone(after.Head), after.Own...), append(bytes.Clone(before.Head), before.Own...)
			if begins := bytes.HasPrefix(all, old); begins != (after.Shared == len(old)) {
				t.Errorf("%q begins with %q: %v, but %d bytes are said to be shared", all, old, begins, after.Shared)
			}
		})
	}
}
