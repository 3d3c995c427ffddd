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
