package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFetching(t *testing.T) {
	tests := []struct{ name, line, want, packages string }{
		{"as READMEs write it", "npx -y @scope/server /data --flag", "--yes --package=@scope/server --call=true", "@scope/server"},
		{"a whole path and a version", "/opt/node/bin/npx --yes server@1.2.3", "--yes --package=server@1.2.3 --call=true", "server@1.2.3"},
		{"without -y", "npx server", "--yes --package=server --call=true", "server"},
		{"packages by option", "npx -y -p a --package=b run x", "--yes --package=a --package=b --call=true", "a b"},
		{"a call of a shell", "npx -y -p a -c run", "--yes --package=a --call=true", "a"},
		{"other options", "npx --registry https://r.example.com --quiet server -p x", "--registry https://r.example.com --quiet --yes --package=server --call=true", "server"},
		{"after two dashes", "npx -y -- server -y", "--yes --package=server --call=true", "server"},
		{"nothing to run", "npx -y", "", ""},
		{"a folder", "npx -y ./server", "", ""},
		{"a file", "npx -y file:../server", "", ""},
		{"nothing to be fetched", "npx --no-install server", "", ""},
		{"offline", "npx --offline server", "", ""},
		{"uvx", "uvx mcp-server-time --local-timezone=UTC", "--from mcp-server-time python -c ", "mcp-server-time"},
		{"uvx with a version", "uvx mcp-server-time@1.2 x", "--from mcp-server-time==1.2 python -c ", "mcp-server-time==1.2"},
		{"uvx with the latest", "uvx mcp-server-time@latest", "--from mcp-server-time python -c ", "mcp-server-time"},
		{"uvx with options", "uvx --python 3.12 --from git+https://example.com/x --with y run", "--python 3.12 --with y --from git+https://example.com/x python -c ", "git+https://example.com/x"},
		{"uv tool run", "uv tool run mcp-server-git", "tool run --from mcp-server-git python -c ", "mcp-server-git"},
		{"uv run", "uv run server.py", "", ""},
		{"uvx offline", "uvx --offline server", "", ""},
		{"uvx of a folder", "uvx --from ./server run", "", ""},
		{"another program", "node server.js", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			words := strings.Fields(tt.line)
			fetch, packages := fetching(words[0], words[1:])
			if diff := cmp.Diff(tt.want, strings.Join(fetch, " ")); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.packages, strings.Join(packages, " ")); diff != "" {
				t.Errorf("packages (-want +got):\n%s", diff)
			}
		})
	}
}

// The operator agrees to a server with the packages that its runner fetches and the files that it
// is granted in view.
func TestServersAreNamedWithWhatTheyGet(t *testing.T) {
	m, _, err := loadMCP(t, `{"servers": {"a": {"command": "npx", "args": ["-y", "server@1"], "read": ["docs"], "write": ["/srv/x"]}}}`, nil)
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Findings) != tt.want {
			t.Errorf("%s: findings = %v, want %d", tt.name, m.Findings, tt.want)
		}
	}
}
