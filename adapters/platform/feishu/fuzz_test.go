package feishu_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// FuzzRecalled checks that only the chat and the message are used from the event of a recall.
func FuzzRecalled(f *testing.F) {
	f.Add(`{"message_id":"om_1","chat_id":"oc_1","recall_time":"1700000000000","recall_type":"message_owner"}`)
	f.Add(`{"message_id":"om_1","chat_id":"","recall_time":7}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, event string) {
		in, ok := feishu.MapForTest("im.message.recalled_v1", []byte(event))
		if !ok {
			return
		}
		if in.Kind != platform.KindRecalled || in.EditOf == "" || in.IngressID != messages.RecallID(in.EditOf) || in.Chat.ID == "" || in.Time.IsZero() {
			t.Errorf("incomplete: %+v", in)
		}
		if in.Text != "" || len(in.Parts) != 0 || in.Sender != (platform.Person{}) || in.Kind == platform.KindCommand {
			t.Errorf("it says something: %+v", in)
		}
	})
}

// FuzzForwards checks that any list of forwarded messages becomes one text of bounded length that
// is not a command and names no file that could be downloaded.
func FuzzForwards(f *testing.F) {
	f.Add(`[{"message_id":"om_1"},{"message_id":"om_2","upper_message_id":"om_1","msg_type":"text","sender":{"id":"ou_1"},"body":{"content":"{\"text\":\"@_user_1 hi\"}"},"mentions":[{"key":"@_user_1","name":"Tom"}]}]`)
	f.Add(`[{"upper_message_id":"om_1","msg_type":"image","create_time":"1","body":{"content":"{\"image_key\":\"img_v3_1\"}"}}]`)
	f.Add(`[{"upper_message_id":"om_1","msg_type":"post","body":{"content":"{\"content\":[[{\"tag\":\"img\",\"image_key\":\"k\"}]]}"}}]`)
	f.Fuzz(func(t *testing.T, list string) {
		in, ok := feishu.ForwardsForTest([]byte(list))
		if !ok {
			return
		}
		if len(in.Parts) != 1 || in.Text != "" || in.Kind != platform.KindMessage || !in.Forwarded {
			t.Fatalf("mapped as %+v", in)
		}
		text, ok := in.Parts[0].(uimessage.Text)
		if !ok || len(text.Text) > 33<<10 || !strings.HasPrefix(text.Text, "[forwarded messages]") {
			t.Errorf("%d bytes: %.80q", len(text.Text), text.Text)
		}
	})
}

// FuzzFile checks that whatever a message says about its file, what is passed on is short, on one
// line and without a path, and the key refers to nothing else.
func FuzzFile(f *testing.F) {
	for _, kind := range []string{"image", "file", "audio", "media", "sticker", "folder", "post"} {
		f.Add(kind, `{"image_key":"img_v3_1","file_key":"file_v3_1","file_name":"../a.pdf","duration":1000,"content":[[{"tag":"img","image_key":"../x"}]]}`)
	}
	f.Fuzz(func(t *testing.T, kind, content string) {
		event, err := json.Marshal(map[string]any{"message": map[string]any{"message_id": "om_1", "chat_id": "oc_1", "message_type": kind, "content": content}})
		stdtest.Must(t, err)
		in, ok := feishu.MapForTest("im.message.receive_v1", event)
		if !ok {
			t.Fatal("an event with ids is none")
		}
		files, _ := filesOf(in)
		for _, x := range files {
			if strings.ContainsAny(x.Name, "/\\\n\r\x00\x1b") || utf8.RuneCountInString(x.Name) > 100 || strings.Trim(x.Name, ". ") == "" && x.Name != "" {
				t.Errorf("name %q", x.Name)
			}
			key, ok := strings.CutPrefix(x.FileID, "om_1/")
			if !ok || key == "" || strings.ContainsAny(key, "/.%?#\\ ") || len(key) > 256 {
				t.Errorf("key %q", x.FileID)
			}
		}
	})
}
