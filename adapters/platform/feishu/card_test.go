package feishu_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func cardEvent(t *testing.T, content string) platform.Inbound {
	t.Helper()
	event, err := json.Marshal(map[string]any{"message": map[string]any{"message_id": "om_1", "chat_id": "oc_1", "message_type": "interactive", "content": content}})
	stdtest.Must(t, err)
	in, ok := feishu.MapForTest("im.message.receive_v1", event)
	if !ok {
		t.Fatal("an event with ids is none")
	}
	return in
}

// TestCardIsRead checks that the text of a forwarded card reaches the chat, for both forms of
// cards, and is not attributed to its sender.
func TestCardIsRead(t *testing.T) {
	sent := func(card string) string {
		raw, err := json.Marshal(map[string]string{"user_dsl": card})
		stdtest.Must(t, err)
		return string(raw)
	}
	for name, x := range map[string]struct{ content, want string }{
		"rows": {
			`{"title":"Disk [full]","elements":[[{"tag":"text","text":"host "},{"tag":"a","text":"db1","href":"https://db1.example"},{"tag":"at","user_id":"@_user_1","user_name":"Tom"}],[],[{"tag":"img","image_key":"img_1"}],[{"tag":"button","text":"Mute","type":"primary"}]]}`,
			"[card Disk (full)]\nhost db1 (https://db1.example)@Tom\nMute",
		},
		"as sent, first form": {
			sent(`{"header":{"title":{"tag":"plain_text","content":"Leave"}},"elements":[{"tag":"div","fields":[{"text":{"tag":"lark_md","content":"**who** Ann"}},{"text":{"tag":"lark_md","content":"two days"}}]},{"tag":"hr"},{"tag":"action","actions":[{"tag":"button","text":{"tag":"plain_text","content":"Yes"}}]}]}`),
			"[card Leave]\n**who** Ann\ntwo days\nYes",
		},
		"as sent, second form": {
			sent(`{"schema":"2.0","header":{"title":{"content":"Alert"},"subtitle":{"content":"now"}},"body":{"elements":[{"tag":"markdown","content":"CPU 99 %"},{"tag":"column_set","columns":[{"tag":"column","elements":[{"tag":"markdown","content":"a"}]},{"tag":"column","elements":[{"tag":"markdown","content":"b"}]}]}]}}`),
			"[card Alert now]\nCPU 99 %\na\nb",
		},
		"title only":  {`{"title":"Hi","elements":[[{"tag":"img","image_key":"k"}]]}`, "[card Hi]"},
		"nothing":     {`{}`, "[card]"},
		"not read":    {`{"title":{"a":1},"elements":{"b":[1]},"user_dsl":"{"}`, "[card]"},
		"other types": {`{"title":"T","elements":[[{"tag":"button","text":{"content":"x"}},{"tag":"text","text":"y"}]]}`, "[card T]\ny"},
	} {
		in := cardEvent(t, x.content)
		stdtest.Diff(t, name, []uimessage.Part{uimessage.Text{Text: x.want}}, in.Parts)
		if !in.Forwarded || in.Text != "" || in.Kind != platform.KindMessage {
			t.Errorf("%s is taken for the sender's words: %+v", name, in)
		}
	}
}

// FuzzCard checks that any card quickly becomes one text of bounded length that is not a command.
func FuzzCard(f *testing.F) {
	f.Add(`{"title":"a","elements":[[{"tag":"text","text":"b"}]]}`)
	f.Add(`{"user_dsl":"{\"body\":{\"elements\":[{\"content\":\"x\"}]}}"}`)
	f.Add(`{"user_dsl":"` + strings.Repeat(`{\"body\":`, 40) + `1` + strings.Repeat(`}`, 40) + `"}`)
	f.Fuzz(func(t *testing.T, content string) {
		in := cardEvent(t, content)
		if len(in.Parts) != 1 || in.Text != "" || in.Kind != platform.KindMessage || !in.Forwarded {
			t.Fatalf("mapped as %+v", in)
		}
		text, ok := in.Parts[0].(uimessage.Text)
		if !ok || len(text.Text) > 20<<10 || !strings.HasPrefix(text.Text, "[card") {
			t.Errorf("%d bytes: %.80q", len(text.Text), text.Text)
		}
	})
}
