package config

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestDigestIsOfTheFolder: the digest does not depend on where the folder is or on the values of
// the operator's variables. It changes with everything that the folder reaches.
func TestDigestIsOfTheFolder(t *testing.T) {
	const ship = `{"name": "${A}", "llm": {"provider": "custom", "model": "m", "baseUrl": "${ROOT}/v1", "apiKey": "${file:../key}"}}`
	const servers = `{"servers": {"one": {"command": "${PROGRAM}", "env": {"K": "${A}"}}}}`
	digest := func(ship, dotEnv, servers, value string) string {
		t.Helper()
		root := t.TempDir()
		dir := filepath.Join(root, "bot")
		stdtest.Must(t, os.Mkdir(dir, 0o700))
		write(t, filepath.Join(root, "key"), "k", 0o600)
		for name, text := range map[string]string{FileName: ship, keys.EnvFile: dotEnv, "mcp.json": servers} {
			write(t, filepath.Join(dir, name), text, 0o600)
		}
		loaded, err := Load(Options{Dir: dir, Env: environment(map[string]string{"A": value, "B": value})})
		stdtest.Must(t, err)
		m, err := loaded.MCP(filepath.Join(dir, "mcp.json"), false)
		stdtest.Must(t, err)
		return Digest(loaded.Reaches(m))
	}
	const dotEnv = "ROOT=https://models.example\nPROGRAM=/bin/true\n"
	want := digest(ship, dotEnv, servers, "one")
	if got := digest(ship, dotEnv, servers, "two"); got != want {
		t.Error("the digest changes with the place or with a value of the operator")
	}
	for name, got := range map[string]string{
		"variable":             digest(`{"name": "${B}", "llm": {"provider": "custom", "model": "m", "baseUrl": "${ROOT}/v1", "apiKey": "${file:../key}"}}`, dotEnv, servers, "one"),
		"text around it":       digest(`{"name": "x${A}", "llm": {"provider": "custom", "model": "m", "baseUrl": "${ROOT}/v1", "apiKey": "${file:../key}"}}`, dotEnv, servers, "one"),
		"path":                 digest(ship, "ROOT=https://models.example/x\nPROGRAM=/bin/true\n", servers, "one"),
		"program of .env":      digest(ship, "ROOT=https://models.example\nPROGRAM=/bin/false\n", servers, "one"),
		"argument":             digest(ship, dotEnv, `{"servers": {"one": {"command": "${PROGRAM}", "args": ["x"], "env": {"K": "${A}"}}}}`, "one"),
		"name of a variable":   digest(ship, dotEnv, `{"servers": {"one": {"command": "${PROGRAM}", "env": {"L": "${A}"}}}}`, "one"),
		"literal in env":       digest(ship, dotEnv, `{"servers": {"one": {"command": "${PROGRAM}", "env": {"K": "${A}", "LD_PRELOAD": "x"}}}}`, "one"),
		"network":              digest(ship, dotEnv, `{"servers": {"one": {"command": "${PROGRAM}", "env": {"K": "${A}"}, "network": true}}}`, "one"),
		"folder to read":       digest(ship, dotEnv, `{"servers": {"one": {"command": "${PROGRAM}", "env": {"K": "${A}"}, "read": ["/home"]}}}`, "one"),
		"tools without asking": digest(ship, dotEnv, `{"servers": {"one": {"command": "${PROGRAM}", "env": {"K": "${A}"}, "allow": ["*"]}}}`, "one"),
		"name of the server":   digest(ship, dotEnv, `{"servers": {"two": {"command": "${PROGRAM}", "env": {"K": "${A}"}}}}`, "one"),
		"no server":            digest(ship, dotEnv, `{}`, "one"),
	} {
		if got == want {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

// FuzzIsOwn: an address that counts as a service's own address leads only to that service's host.
func FuzzIsOwn(f *testing.F) {
	for _, seed := range []string{
		"https://api.openai.com/v1", "https://api.openai.com", "https://api.openai.com:443/v1", "https://api.openai.com@evil.example", `https://api.openai.com\@evil.example`,
		"https://api.openai.com%2eevil.example", "https://api.openai.com:443@evil.example/", "https://api.openai.com\t.evil.example", "https:///api.openai.com", "https://api.openai.com:4430",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if !isOwn(address, "api.openai.com") {
			return
		}
		u, err := url.Parse(address)
		stdtest.Must(t, err)
		if u.Scheme != "https" || u.Hostname() != "api.openai.com" || u.Port() != "" && u.Port() != "443" || u.User != nil {
			t.Errorf("%q counts as the service's own and leads to %s", address, u.Host)
		}
		if isLoopback(address) {
			t.Errorf("%q is on this machine, too", address)
		}
	})
}
