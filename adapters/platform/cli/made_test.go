package cli

import (
	"encoding/json"
	"testing"
)

func TestSpokenAt(t *testing.T) {
	for output, want := range map[string]string{
		`{"delivered":true,"as":"here","audio":{"path":"results/c/speech-1.opus","url":"file:///srv/files/results/c/speech-1.opus"}}`: "file:///srv/files/results/c/speech-1.opus",
		`{"audio":{"url":"https://example.org/x"}}`: "",
		`{"audio":{"url":"file:///a\u001b[31mb"}}`:  "file:///a[31mb",
		`{"audio":"file:///a"}`:                     "",
		`{"delivered":true}`:                        "",
		`"file:///a"`:                               "",
		`[`:                                         "",
	} {
		if got := spokenAt(json.RawMessage(output)); got != want {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
	}
}

// Files that an agent gave are shown by name, size and path; files in other
// places, or reported by other tools, are ignored.
func TestSentFiles(t *testing.T) {
	const file = `{"delivered":true,"files":[{"name":"a\u001b[31m.txt","bytes":1,"url":"file:///srv/a%20b.txt"}]}`
	for _, tt := range []struct{ tool, output, want string }{
		{"chat_send_file", file, "a[31m.txt, 1 byte: /srv/a b.txt"},
		{"chat_send", file, "a[31m.txt, 1 byte: /srv/a b.txt"},
		{"server:chat_send_file", file, ""},
		{"chat_send_file", `{"files":[{"url":"https://example.org/a"},{"url":"file://host/a"},{"url":"/api/chat/c/files/a"},{}]}`, ""},
		{"chat_send_file", `{"files":"file:///a"}`, ""},
		{"chat_send_file", `"text"`, ""},
	} {
		got := ""
		for _, f := range sentFiles(tt.tool, json.RawMessage(tt.output)) {
			got += f.Line(false)
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.tool, tt.output, got, tt.want)
		}
	}
}
