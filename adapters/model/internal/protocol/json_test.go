package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// FuzzString compares our JSON strings with the standard decoder.
func FuzzString(f *testing.F) {
	f.Add("a\"\\\n\x00\u2028<é🚀\xff", []byte(`{"a": "b \" \u00e9 \\", "c":[ 1 , null ]}`))
	f.Add("eight by", []byte(`"x"`))
	f.Fuzz(func(t *testing.T, s string, raw []byte) {
		var back string
		if err := json.Unmarshal(AppendString(nil, s), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && !equalInvalid(s, back) {
			t.Fatalf("%q became %q (%v)", s, back, err)
		}
		if !json.Valid(raw) {
			return
		}
		var want bytes.Buffer
		stdtest.Must(t, json.Compact(&want, raw))
		if got := modelmessage.AppendJSON(nil, raw); string(got) != want.String() {
			t.Fatalf("%s compacted to %s", raw, got)
		}
		var quoted string
		if err := json.Unmarshal(AppendQuotedJSON(nil, raw), &quoted); err != nil || quoted != strings.ToValidUTF8(want.String(), "\uFFFD") && !equalInvalid(want.String(), quoted) {
			t.Fatalf("%s quoted reads %q (%v)", raw, quoted, err)
		}
	})
}

// equalInvalid compares with one U+FFFD for every byte of invalid UTF-8.
func equalInvalid(s, back string) bool { return string([]rune(s)) == back }
