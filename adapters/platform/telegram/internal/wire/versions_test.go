package wire

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The service reports edits that change nothing, and delivers updates more than once.
func TestVersions(t *testing.T) {
	type step struct {
		say  string // message or edited_message, then its fields
		same bool
	}
	const said, edited = `{"message_id":1,"date":100,"chat":{"id":7},`, `{"message_id":1,"date":100,"chat":{"id":7},"edit_date":`
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"nothing changed", []step{{said + `"text":"a"}`, false}, {edited + `101,"text":"a"}`, true}, {edited + `102,"text":"a"}`, true}}},
		{"the words", []step{{said + `"text":"a"}`, false}, {edited + `101,"text":"b"}`, false}, {edited + `102,"text":"b"}`, true}, {edited + `103,"text":"a"}`, false}}},
		{"within a second", []step{{said + `"text":"a"}`, false}, {edited + `100,"text":"b"}`, false}, {edited + `100,"text":"b"}`, false}}},
		{"nothing, then something, within a second", []step{{said + `"text":"a"}`, false}, {edited + `101,"text":"a"}`, true}, {edited + `101,"text":"b"}`, false}}},
		{"a text that becomes a caption", []step{{said + `"text":"a"}`, false}, {edited + `101,"caption":"a"}`, false}}},
		{"another picture", []step{
			{said + `"photo":[{"file_unique_id":"u"}]}`, false}, {edited + `101,"photo":[{"file_unique_id":"u"}]}`, true}, {edited + `102,"photo":[{"file_unique_id":"v"}]}`, false},
		}},
		{"never seen before", []step{{edited + `101,"text":"a"}`, false}, {edited + `102,"text":"a"}`, true}}},
		{"brought twice", []step{
			{said + `"text":"a"}`, false},
			{said + `"text":"a"}`, false},
			{edited + `101,"text":"a"}`, true},
			{edited + `101,"text":"a"}`, true},
			{edited + `102,"text":"b"}`, false},
			{edited + `102,"text":"b"}`, false},
		}},
		{"after a look ahead", []step{
			{said + `"text":"a"}`, false},
			{edited + `101,"text":"b"}`, false},
			{edited + `102,"text":"b"}`, true},
			{said + `"text":"a"}`, false},
			{edited + `101,"text":"b"}`, false},
			{edited + `102,"text":"b"}`, true},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := NewVersions()
			for i, s := range c.steps {
				var msg Message
				stdtest.Must(t, json.Unmarshal([]byte(s.say), &msg))
				if got := v.Same(&msg, msg.EditDate != 0); got != s.same {
					t.Errorf("step %d: %v", i+1, got)
				}
			}
		})
	}
}

// However many messages there are, only a limited number is kept, including the newest.
func TestVersionsAreFew(t *testing.T) {
	v := NewVersions()
	var msg Message
	for i := range int64(10 * maxVersions) {
		msg = Message{ID: i, Date: 1, Chat: Chat{ID: 7}, Text: "a"}
		v.Same(&msg, false)
	}
	if n := v.known.Len(); n > 2*maxVersions {
		t.Errorf("%d are remembered", n)
	}
	for _, back := range []int64{0, maxVersions - 1} {
		msg.ID, msg.EditDate = 10*maxVersions-1-back, 2
		if !v.Same(&msg, true) {
			t.Errorf("the message before %d others is not known", back)
		}
	}
}
