package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

func TestNames(t *testing.T) {
	cases := []struct{ first, last, username, want string }{
		{"Ann", "Lee", "ann", "Ann Lee"},
		{"Ann", "", "", "Ann"},
		{"", "", "ann", "@ann"},
		{" \u202e\n", "", "", "7"},
		{"a\nb\tc", "", "", "a b c"},
		{strings.Repeat("长", 300), "", "", strings.Repeat("长", botkit.MaxName)},
	}
	for _, c := range cases {
		if got := personName(c.first, c.last, c.username, 7); got != c.want {
			t.Errorf("personName(%q, %q, %q) = %q, want %q", c.first, c.last, c.username, got, c.want)
		}
	}
}

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
			var w RichWords
			if err := json.Unmarshal([]byte(c.raw), &w); err != nil || string(w) != c.want {
				t.Errorf("got %q, %v, want %q", w, err, c.want)
			}
		})
	}
}
