package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func loadMCP(t *testing.T, text string, vars map[string]string) (*MCP, string, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	write(t, path, text, 0o600)
	m, err := readMCP(t, dir, path, vars)
	return m, dir, err
}

// readMCP reads the servers of a project without other settings.
func readMCP(t *testing.T, dir, path string, vars map[string]string) (*MCP, error) {
	t.Helper()
	loaded, err := Load(Options{Dir: dir, Env: environment(vars)})
	stdtest.Must(t, err)
	return loaded.MCP(path, false)
}

func TestMCP(t *testing.T) {
	m, dir, err := loadMCP(t, `{
  "servers": {
    "files": {"command": "node", "args": ["server.js", "${ROOT:-/data}"], "env": {"API_TOKEN": "${TOKEN}", "MODE": "production"},
      "read": ["docs"], "write": ["/data"], "cwd": ".", "allow": ["read_file"], "timeoutS": 5, "network": true}
  },
  "mcpServers": {
    "search": {"type": "http", "url": "https://example.com/mcp?key=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "off": {"command": "x", "env": {"A": "${MISSING}"}, "disabled": true}
  }
}`, map[string]string{"TOKEN": "very-secret-token"})
	stdtest.Must(t, err)
	var names []string
	for _, s := range m.Servers {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"files", "off", "search"}, names); diff != "" {
		t.Fatalf("servers (-want +got):\n%s", diff)
	}
	files, off, search := m.Servers[0], m.Servers[1], m.Servers[2]
	stdtest.Diff(t, "args", []string{"server.js", "/data"}, files.Args)
	if files.Env["API_TOKEN"].Reveal() != "very-secret-token" || files.TimeoutS != 5 || !files.Network || files.Dir != dir ||
		files.Read[0] != filepath.Join(dir, "docs") || files.Write[0] != "/data" || files.Shown != "node server.js ${ROOT:-/data}" || files.Off != "" {
		t.Errorf("files = %+v", files)
	}
	if off.Off != "disabled in mcp.json" {
		t.Errorf("off = %q", off.Off)
	}
	if search.URL.Reveal() != "https://example.com/mcp?key=very-secret-token" || search.TimeoutS != 60 || search.Shown != "https://example.com/mcp?key=${TOKEN}" {
		t.Errorf("search = %+v", search)
	}
	for _, s := range []MCPServer{files, search} {
		hidden := map[string]bool{}
		for _, h := range s.Hidden {
			hidden[h.Reveal()] = true
		}
		if !hidden["very-secret-token"] || hidden["production"] || hidden["Bearer"] {
			t.Errorf("%s hides %d texts, want the token and no plain word", s.Name, len(hidden))
		}
		if shown := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(shown, "very-secret-token") {
			t.Errorf("%s can be printed: %s", s.Name, shown)
		}
	}
}

func TestMCPFindings(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // findings
		off        bool     // the server
	}{
		{"fine", `{"servers": {"a": {"command": "x"}}}`, nil, false},
		{"a byte order mark", "\ufeff" + `{"servers": {"a": {"command": "x"}}}`, nil, false},
		{"neither", `{"servers": {"a": {}}}`, []string{"mcp.json:1:14: servers.a wants one of command (a program) and url (an address)"}, true},
		{"both", `{"servers": {"a": {"command": "x", "url": "http://h"}}}`, []string{"mcp.json:1:14: servers.a wants one of command (a program) and url (an address)"}, true},
		{
			"the older transport", `{"servers": {"a": {"type": "sse", "url": "http://h"}}}`,
			[]string{`mcp.json:1:28: servers.a.type wants "stdio" with a command, and "http" with a url; the older "sse" is not supported`},
			true,
		},
		{"no address", `{"servers": {"a": {"url": "example.com"}}}`, []string{"mcp.json:1:27: servers.a.url wants an address such as https://example.com/mcp"}, true},
		{"missing", "{\"servers\": {\"a\": {\"command\": \"x\",\n \"env\": {\"K\": \"${NO}\"}}}}", []string{"mcp.json:2:15: servers.a.env.K: the environment variable NO is not set, or empty; set it in the environment or in .env, or write ${NO:-} if it may be empty"}, true},
		{"a wrong kind", `{"servers": {"a": {"command": ["x"]}}}`, []string{"mcp.json:1:31: servers.a.command wants a string, not a list"}, true},
		{"an empty path", `{"servers": {"a": {"command": "x", "write": [""]}}}`, []string{"mcp.json:1:46: servers.a.write[0] is not a path; name a file or folder, or \".\" for the project's folder"}, true},
		{"too long", `{"servers": {"a": {"command": "x", "timeoutS": 100000}}}`, []string{"mcp.json:1:48: servers.a.timeoutS wants a number from 1 to 3600"}, true},
		{"no variable", `{"servers": {"a": {"command": "x", "env": {"A=B": "1"}}}}`, []string{`mcp.json:1:43: servers.a.env has "A=B", which is not a name of a variable`}, true},
		{"no header", `{"servers": {"a": {"url": "http://h", "headers": {"X": "1\r\nY: 2"}}}}`, []string{`mcp.json:1:50: servers.a.headers has "X", which is not a header that can be sent`}, true},
		{
			"an unknown key", `{"servers": {"a": {"command": "x", "comand": "y"}}}`,
			[]string{`mcp.json:1:36: unknown key "comand" in servers.a; did you mean "command"?`},
			false,
		},
		{"a literal secret", `{"servers": {"a": {"url": "http://h", "headers": {"Authorization": "Bearer x"}}}}`, []string{
			`mcp.json:1:68: servers.a.headers.Authorization is spelled out here; write "${A_AUTHORIZATION}" and set A_AUTHORIZATION in the environment or in .env`,
		}, false},
		{"a secret in args", `{"servers": {"a": {"command": "x", "args": ["${TOKEN}"]}}}`, []string{
			"mcp.json:1:45: servers.a.args[0] takes its text from a variable or file: if it is a secret, others on this machine see it in the list of processes; use env",
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _, err := loadMCP(t, tt.text, map[string]string{"TOKEN": "very-secret-token"})
			stdtest.Must(t, err)
			var got []string
			for _, f := range m.Findings {
				got = append(got, f.String())
			}
			stdtest.Diff(t, "findings", tt.want, got)
			if len(m.Servers) != 1 || (m.Servers[0].Off != "") != tt.off {
				t.Errorf("servers = %+v, want one that is off: %v", m.Servers, tt.off)
			}
		})
	}
}

// Everybody on the machine can read the arguments of a program. A variable in an argument causes
// a warning; a variable in the environment does not.
func TestSE4SecretsInArguments(t *testing.T) {
	const text = `{"servers": {"a": {"command": "x", "args": ["plain", "-k=${TOKEN}"], "env": {"API_TOKEN": "${TOKEN}"}}}}`
	m, _, err := loadMCP(t, text, map[string]string{"TOKEN": "very-secret-token"})
	stdtest.Must(t, err)
	if len(m.Findings) != 1 || !strings.Contains(m.Findings[0].String(), "servers.a.args[1] takes its text from a variable") {
		t.Errorf("findings = %v, want one of args[1]", m.Findings)
	}
	if text := fmt.Sprint(m.Findings); strings.Contains(text, "very-secret-token") {
		t.Errorf("a finding tells the secret: %s", text)
	}
}

func TestMCPRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no JSON", `{"servers": `, "mcp.json:1:"},
		{"a list", `[]`, "mcp.json:1:1: mcp.json wants an object, not a list"},
		{"a list of servers", `{"servers": []}`, "mcp.json:1:13: servers wants an object, not a list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := loadMCP(t, tt.text, nil)
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok || !strings.Contains(invalid.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
	for _, text := range []string{"", " \n"} {
		if m, _, err := loadMCP(t, text, nil); err != nil || len(m.Servers) != 0 {
			t.Errorf("an empty file: %v, %v", m, err)
		}
	}
	m, _, err := loadMCP(t, `{"servers": {"a b": {"command": "x"}, "ok": {"command": "x"}}, "mcpServers": {"ok": {"command": "y"}}}`, nil)
	if err != nil || len(m.Servers) != 1 || m.Servers[0].Command != "x" || len(m.Findings) != 2 {
		t.Errorf("servers = %+v, findings %v, %v; want the one that is right", m, m.Findings, err)
	}
}

func FuzzMCP(f *testing.F) {
	f.Add(`{"servers": {"a": {"command": "x", "args": ["${A}", 1], "env": {"A": null}}}}`)
	f.Add(`{"mcpServers": {"a": {"url": "http://${A}", "headers": {"a\u0000": "${file:/etc/hostname}"}}, "a": 1}}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "mcp.json")
		write(t, path, text, 0o600)
		m, err := readMCP(t, dir, path, map[string]string{"A": "canary-of-a-secret"})
		if err != nil {
			return
		}
		for _, finding := range m.Findings {
			if strings.Contains(finding.String(), "canary-of-a-secret") {
				t.Errorf("a finding holds a secret: %s", finding)
			}
		}
	})
}

// If a file has more findings than are kept, every server with a fault is still turned off.
func TestMCPManyFindings(t *testing.T) {
	var servers []string
	for i := range 40 {
		args := strings.TrimSuffix(strings.Repeat(`"${A_WORD}",`, 10), ",")
		servers = append(servers, fmt.Sprintf(`"s%d": {"command": "x", "args": [%s]}`, i, args))
	}
	servers = append(servers, `"z": {"command": "x", "timeoutS": -1}`)
	got, _, err := loadMCP(t, `{"servers": {`+strings.Join(servers, ",")+`}}`, map[string]string{"A_WORD": "w"})
	stdtest.Must(t, err)
	if len(got.Findings) != 201 { // The last one says that there are more.
		t.Errorf("%d findings, want 201", len(got.Findings))
	}
	for _, s := range got.Servers {
		if (s.Off != "") != (s.Name == "z") {
			t.Errorf("server %s is off: %q", s.Name, s.Off)
		}
	}
}
