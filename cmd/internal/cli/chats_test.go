package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// turn is a message of a chat as its folder has it.
func turn(t *testing.T, line string) uimessage.Message {
	t.Helper()
	m, err := uimessage.Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The ledger knows a message once its run has ended; before that, the history and the
// lane say who waits.
func TestShowNamesOpenMessages(t *testing.T) {
	said := func(id, text string) uimessage.Message {
		return turn(t, `{"id":"`+id+`","role":"user","parts":[{"type":"text","text":"`+text+`"}],"metadata":{"ts":1700000000000,"userId":"7","username":"Ann"}}`)
	}
	doc := host.ChatDocument{
		ChatKey: "cli-chat-main", Running: true,
		Messages: []uimessage.Message{
			said("1", "old"),
			turn(t, `{"id":"2","role":"assistant","parts":[{"type":"text","text":"done"}],"metadata":{"result":"done"}}`),
			said("3", "first"),
			turn(t, `{"id":"4","role":"assistant","parts":[{"type":"text","text":"so far"}],"metadata":{}}`),
			said("5", "merged"),
		},
		Waiting: []uimessage.Message{said("6", "later")},
	}
	var got []string
	for _, o := range explainChat(doc, nil).Open {
		word := o.ID + " " + o.Username + " " + o.Text
		if o.Waiting {
			word += " waits"
		}
		got = append(got, word)
	}
	if want := []string{"3 Ann first", "5 Ann merged", "6 Ann later waits"}; !slices.Equal(got, want) {
		t.Errorf("open are %q, want %q", got, want)
	}
	text := explainChat(doc, nil).text()
	for _, want := range []string{"Ann  open  first\n", "Ann  open  merged\n", "Ann  open, waiting  later\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text is\n%s\nwithout %q", text, want)
		}
	}
}

// Programs read lists, also empty ones.
func TestEmptyListsAreLists(t *testing.T) {
	for name, doc := range map[string]any{
		"chats show": explainChat(host.ChatDocument{}, nil),
		"check":      checkOf(nil, nil),
	} {
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"ledger", "open", "findings"} {
			if strings.Contains(string(b), `"`+key+`":null`) {
				t.Errorf("%s: %s is null in %s", name, key, b)
			}
		}
	}
}
