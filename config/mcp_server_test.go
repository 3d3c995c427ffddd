package config

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The operator agrees to a server with the packages that its runner fetches and the files that it
// is granted in view.
func TestServersAreNamedWithWhatTheyGet(t *testing.T) {
	m, _, err := loadMCP(t, `{"servers": {"a": {"command": "npx", "args": ["-y", "server@1"], "read": ["docs"], "write": ["/srv/x"]}}}`, nil)
	stdtest.Must(t, err)
	got := (&Loaded{}).Reaches(m)
	const want = "npx -y server@1 reading docs changing /srv/x after fetching over the network, into a folder of its own, server@1 and what that needs"
	if len(got) != 1 || got[0].Text != want {
		t.Errorf("reaches = %+v, want %q", got, want)
	}
}

// TestSpelledOutSecrets: each secret that mcp.json contains causes one warning and is shown
// nowhere. What only looks like a secret causes no warning.
func TestSpelledOutSecrets(t *testing.T) {
	tests := []struct {
		name, server, at string // at is the key of the warning; empty if there is no warning
		hidden           string
	}{
		{"an option and its value", `"command": "x", "args": ["--api-key", "canary-1234"]`, "args[1]", "canary-1234"},
		{"an option with its value", `"command": "x", "args": ["--token=canary-1234"]`, "args[0]", "canary-1234"},
		{"a variable", `"command": "docker", "args": ["run", "-e", "GITHUB_TOKEN=canary-1234"]`, "args[2]", "canary-1234"},
		{"a header", `"command": "npx", "args": ["mcp-remote", "--header", "Authorization: Bearer canary-1234"]`, "args[2]", "canary-1234"},
		{"another header", `"command": "npx", "args": ["mcp-remote", "--header", "X-API-Key: canary-1234"]`, "args[2]", "canary-1234"},
		{"a password in an address", `"command": "x", "args": ["postgresql://user:canary-1234@db.example.com/x"]`, "args[0]", "canary-1234"},
		{"a password with escapes", `"command": "x", "args": ["postgresql://user:canary%2D1234@db.example.com/x"]`, "args[0]", "canary-1234"},
		{"a parameter of an address", `"command": "x", "args": ["https://example.com/mcp?apiKey=canary-1234&x=1"]`, "args[0]", "canary-1234"},
		{"by its form", `"command": "x", "args": ["-c", "sk-canary1234567890abc"]`, "args[1]", "sk-canary1234567890abc"},
		{"another form", `"command": "x", "args": ["run ghp_abcdefghijklmnopqrstuvwxyz0123456789 now"]`, "args[0]", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"},
		{"the address", `"url": "https://example.com/mcp?token=canary-1234"`, "url", "canary-1234"},
		{"a variable by its form", `"command": "x", "env": {"DSN": "mysql://u:canary-1234@h/x"}`, "env.DSN", "canary-1234"},
		{"a variable by its name", `"command": "x", "env": {"API_KEY": "canary-1234"}`, "env.API_KEY", "canary-1234"},
		{"a file of a key", `"command": "x", "args": ["--private-key=/etc/key.pem", "--token", "./token.txt"]`, "", ""},
		{"plain words", `"command": "x", "args": ["--max-tokens", "100000", "--keyboard=german", "--tokenizer", "standard", "https://example.com/a?page=123456"]`, "", ""},
		{"a variable's value", `"command": "x", "env": {"API_KEY": "${KEY}"}`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := loadMCP(t, `{"servers": {"a": {`+tt.server+`}}}`, map[string]string{"KEY": "from-outside"})
			stdtest.Must(t, err)
			found := 0
			for _, f := range m.Findings {
				text := f.String()
				if strings.Contains(text, "servers.a."+tt.at) && strings.Contains(text, "spelled out") {
					found++
				}
				if tt.hidden != "" && strings.Contains(text, tt.hidden) {
					t.Errorf("a finding tells the secret: %s", text)
				}
			}
			if tt.at == "" && len(m.Findings) > 0 || tt.at != "" && found != 1 {
				t.Errorf("findings = %v, want one of %q", m.Findings, tt.at)
			}
			s := m.Servers[0]
			hidden := false
			for _, h := range s.Hidden {
				hidden = hidden || h.Reveal() == tt.hidden
			}
			if tt.hidden != "" && !hidden {
				t.Errorf("the secret is not among the %d hidden texts", len(s.Hidden))
			}
			reaches := (&Loaded{}).Reaches(m)
			for _, shown := range []string{s.Shown, reaches[0].Text, reaches[0].String()} {
				if strings.Contains(shown, "canary") || strings.Contains(shown, "ghp_") {
					t.Errorf("the server is shown as %s", shown)
				}
			}
		})
	}
}

// An argument that names a folder which the server may not read causes a warning.
func TestFoldersThatAreNotGranted(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		want int
	}{
		{`"args": ["` + dir + `"]`, 1},
		{`"args": ["` + dir + `"], "read": ["` + dir + `"]`, 0},
		{`"args": ["` + dir + `/"], "write": ["` + dir + `/.."]`, 0},
		{`"args": ["."]`, 1},
		{`"args": ["."], "read": ["."]`, 0},
		{`"args": ["."], "cwd": "."`, 0},
		{`"args": ["/usr/lib", "no-such-folder", "-x", "mcp.json"]`, 0},
	} {
		m, _, err := loadMCP(t, `{"servers": {"a": {"command": "x", `+tt.name+`}}}`, nil)
		stdtest.Must(t, err)
		if len(m.Findings) != tt.want {
			t.Errorf("%s: findings = %v, want %d", tt.name, m.Findings, tt.want)
		}
	}
}
