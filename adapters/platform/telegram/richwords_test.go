package telegram

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

func TestRichWords(t *testing.T) {
	cases := []struct{ name, raw, want string }{
		{"nothing", `{"blocks":[]}`, ""},
		{"paragraphs", `{"blocks":[{"type":"heading","text":"A","size":1},{"type":"paragraph","text":["b ",{"type":"bold","text":"c"},{"type":"url","text":"d","url":"https://x.y"}]}]}`, "A\nb cd"},
		{"list", `{"blocks":[{"type":"list","items":[{"label":"1.","blocks":[{"type":"paragraph","text":"x"}]},{"label":"2.","blocks":[{"type":"paragraph","text":"y"}]}]}]}`, "1. x\n2. y"},
		{"table", `{"blocks":[{"type":"table","cells":[[{"text":"a"},{"text":"b"}],[{"text":"1"},{}]]},{"type":"divider"},{"type":"paragraph","text":"end"}]}`, "a | b\n1 | \nend"},
		{"quote and details", `{"blocks":[{"type":"blockquote","blocks":[{"type":"paragraph","text":"q"}],"credit":"me "},{"type":"details","summary":"s ","blocks":[{"type":"pre","text":"code"}]}]}`, "me q\ns code"},
		{"written down", `"a\nb"`, "a\nb"},
		{"of another form", `{"blocks":{"text":7},"text":[null,true,{"text":{"text":"x"}}]}`, "x"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var w richWords
			if err := json.Unmarshal([]byte(c.raw), &w); err != nil || string(w) != c.want {
				t.Errorf("got %q, %v, want %q", w, err, c.want)
			}
		})
	}
}

// TestAnsweredRichMessage checks that a reply to a rich message includes that message, and a
// forwarded rich message is heard.
func TestAnsweredRichMessage(t *testing.T) {
	var msg message
	raw := `{"message_id":9,"chat":{"id":1,"type":"private"},"from":{"id":1},"rich_message":{"blocks":[{"type":"paragraph","text":"passed on"}]},
		"reply_to_message":{"message_id":8,"from":{"id":42,"is_bot":true},"rich_message":{"blocks":[{"type":"heading","text":"Plan","size":1},{"type":"paragraph","text":"go"}]}}}`
	if err := json.Unmarshal([]byte(raw), &msg); err != nil {
		t.Fatal(err)
	}
	m := mapper{me: identity{ID: 42}}
	if got := m.answered(&msg); got == nil || got.Text != "Plan\ngo" || got.From != "you" {
		t.Errorf("answers %+v", got)
	}
	if got := m.message(&msg, false); got.in.Text != "passed on" || got.facts.Content == botkit.ContentService {
		t.Errorf("says %+v", got)
	}
}
