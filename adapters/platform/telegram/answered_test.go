package telegram

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// The replied-to message is included as reference, as far as the service reports it.
func TestAnswered(t *testing.T) {
	bob := `"from":{"id":8,"first_name":"Bob"}`
	for _, c := range []struct {
		name, fields string
		want         *uimessage.Quoted
	}{
		{"nothing", `"text":"x"`, nil},
		{"a text", `"text":"x","reply_to_message":{"message_id":3,` + bob + `,"text":"hello"}`, &uimessage.Quoted{From: "Bob", User: "8", MessageID: "3", Text: "hello"}},
		{"a caption", `"text":"x","reply_to_message":{"message_id":3,` + bob + `,"caption":"hello","photo":[{"file_id":"f"}]}`, &uimessage.Quoted{From: "Bob", User: "8", MessageID: "3", Text: "hello"}},
		{"a photo", `"text":"x","reply_to_message":{"message_id":3,` + bob + `,"photo":[{"file_id":"f"}]}`, &uimessage.Quoted{From: "Bob", User: "8", MessageID: "3", Text: "[photo]"}},
		{"without words", `"text":"x","reply_to_message":{"message_id":3,` + bob + `}`, nil},
		{"ours", `"text":"x","reply_to_message":{"message_id":3,"from":{"id":9,"is_bot":true,"first_name":"Sample"},"text":"hello"}`, &uimessage.Quoted{From: "you", MessageID: "3", Text: "hello"}},
		{"of a person called you", `"text":"x","reply_to_message":{"message_id":3,"from":{"id":8,"first_name":"You"},"text":"hello"}`, &uimessage.Quoted{User: "8", MessageID: "3", Text: "hello"}},
		{"of a channel", `"text":"x","reply_to_message":{"message_id":3,"sender_chat":{"id":-77,"title":"News"},"text":"hello"}`, &uimessage.Quoted{From: "News", User: "-77", MessageID: "3", Text: "hello"}},
		{"a stretch", `"text":"x","quote":{"text":"ell","position":1},"reply_to_message":{"message_id":3,` + bob + `,"text":"hello"}`, &uimessage.Quoted{From: "Bob", User: "8", MessageID: "3", Text: "ell"}},
		{"of another chat", `"text":"x","quote":{"text":"ell"},"external_reply":{"origin":{}}`, &uimessage.Quoted{Text: "ell"}},
		{"the topic's first", `"text":"x","message_thread_id":3,"is_topic_message":true,"reply_to_message":{"message_id":3,` + bob + `,"forum_topic_created":{"name":"T"}}`, nil},
		{"long", `"text":"x","reply_to_message":{"message_id":3,` + bob + `,"text":"` + strings.Repeat("é", 2000) + `"}`, &uimessage.Quoted{From: "Bob", User: "8", MessageID: "3", Text: strings.Repeat("é", maxAnswered) + "…"}},
		{"a name of many lines", `"text":"x","reply_to_message":{"message_id":3,"from":{"id":8,"first_name":"B\n\u202eob"},"text":"hello"}`, &uimessage.Quoted{From: "B ob", User: "8", MessageID: "3", Text: "hello"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdtest.Diff(t, "", c.want, mapJSON(t, "message", c.fields).in.Answers)
		})
	}
}
