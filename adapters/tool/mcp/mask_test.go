package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// If one secret is the beginning of another, nothing of either is left, in texts and in JSON, however
// JSON escapes their characters.
func TestSecretsAreMaskedWhole(t *testing.T) {
	const short, long, odd = "sk-live-1", "sk-live-1-canary", `a"<&>` + "\u2028canary"
	r := &remote{c: &client{server: &Server{Hidden: []string{short, long, odd}}}}
	if got := r.c.server.mask("x " + long + " y " + short); got != "x "+stars+" y "+stars {
		t.Errorf("a text: %q", got)
	}
	raw, err := canonicalOf(map[string]string{"a": long, "b": odd, "c": "x" + odd + "y"})
	stdtest.Must(t, err)
	got := r.maskJSON(raw)
	if want := `{"a":"` + stars + `","b":"` + stars + `","c":"x` + stars + `y"}`; string(got) != want || !json.Valid(got) || strings.Contains(string(got), "canary") {
		t.Errorf("JSON: %s, want %s", got, want)
	}
}

// A log line that is cut inside a secret does not end with the beginning of that secret.
func TestNoHalfSecretsInLogs(t *testing.T) {
	const secret = "sk-live-canary-0123456789"
	for name, write := range map[string]func(l *logFile){
		"a long line": func(l *logFile) { _, _ = l.Write([]byte(strings.Repeat("x", maxLogLine-12) + secret + "\n")) },
		"a line without an end": func(l *logFile) {
			_, _ = l.Write([]byte("the key is " + secret[:12]))
			l.say("it ended")
		},
		"a line at the end": func(l *logFile) { _, _ = l.Write([]byte("the key is " + secret[:12])) },
	} {
		t.Run(name, func(t *testing.T) {
			logs := t.TempDir()
			l := newLogFile(logs, &Server{Name: "s", Hidden: []string{secret}})
			write(l)
			l.close()
			if text, err := ReadLog(logs, "s"); err != nil || text == "" || strings.Contains(text, secret[:4]) {
				t.Errorf("the log: %q, %v", text[max(0, len(text)-80):], err)
			}
		})
	}
	logs := t.TempDir()
	l := newLogFile(logs, &Server{Name: "s", Hidden: []string{secret, "canary-canary"}})
	_, _ = l.Write([]byte("canary-canary"))
	l.say("it ended")
	if text, err := ReadLog(logs, "s"); err != nil || strings.Contains(text, "canary") || !strings.Contains(text, stars) {
		t.Errorf("a secret that ends as it begins: %q, %v", text, err)
	}
	_, _ = l.Write([]byte("it says\n"))
	l.close()
	if text, err := ReadLog(logs, "s"); err != nil || !strings.HasSuffix(text, " it says\n") {
		t.Errorf("a whole line: %q, %v", text, err)
	}
}
