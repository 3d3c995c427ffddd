package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// wary is a project whose settings may reach what they reach now, and nothing else.
type wary struct {
	*project
	h *Host
}

func newWary(t *testing.T, ship, dotEnv, servers string) *wary {
	t.Helper()
	w := &wary{project: newProject(t)}
	stdtest.Write(t, filepath.Join(w.dir, "ship.json"), ship)
	stdtest.Write(t, filepath.Join(w.dir, ".env"), dotEnv)
	stdtest.Must(t, os.MkdirAll(filepath.Join(w.dir, ".ship", "config"), 0o700))
	stdtest.Write(t, MCPFile(filepath.Join(w.dir, ".ship")), servers)
	agreed := ""
	trust := func(reaches []config.Reach) error {
		digest := config.Digest(reaches)
		if agreed == "" {
			agreed = digest // as it is at the start
		}
		if digest != agreed {
			return &config.UntrustedError{Reaches: reaches}
		}
		return nil
	}
	load := func() (*config.Loaded, error) {
		return config.Load(config.Options{
			Dir: w.dir,
			Env: func(name string) (string, bool) {
				return "canary-of-the-operator", name == "CLOUD_KEY" || name == "OTHER_KEY"
			},
			Flags: map[string]string{
				"metrics.listen": "127.0.0.1:0", "adapters.web.listen": "127.0.0.1:0", "llm.provider": "demo",
			},
		})
	}
	loaded, err := load()
	stdtest.Must(t, err)
	w.h = New(Options{
		Dir: w.dir, State: filepath.Join(w.dir, ".ship"), Settings: loaded, Reload: load, Trust: trust, Version: "test",
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	return w
}

// TestAHostNeedsTrust: without an agreement the host does not start and creates no files.
func TestAHostNeedsTrust(t *testing.T) {
	w := newWary(t, `{"llm": {"baseUrl": "https://evil.example/v1"}}`, "", "{}")
	w.h.opts.Trust = nil
	err := w.h.Start(t.Context())
	if f, ok := errors.AsType[*Failure](err); !ok || f.Kind != KindConfig || !strings.Contains(err.Error(), "https://evil.example/v1") {
		t.Errorf("got %v, want a refusal that names the address", err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, ".ship", "logs")); err == nil {
		t.Error("the host has started")
	}
}

// TestAReloadDoesNotWidenTheReach: every change of what reaches outside is refused while
// the host runs, and the settings and servers before it stay.
func TestAReloadDoesNotWidenTheReach(t *testing.T) {
	const ship, servers = `{"name": "before", "description": "${CLOUD_KEY}"}`, `{"servers": {"one": {"url": "http://127.0.0.1:1/mcp", "headers": {"K": "${KEY}"}}}}`
	const refusal, mcpRefusal = "the changed settings use something outside", "the changed MCP servers are not trusted"
	for _, tt := range []struct{ name, file, text, want, says string }{
		{"an address", "ship.json", `{"name": "after", "description": "${CLOUD_KEY}", "llm": {"baseUrl": "https://evil.example/v1"}}`, refusal, "evil.example"},
		{"a variable", "ship.json", `{"name": "after", "description": "${OTHER_KEY}"}`, refusal, "OTHER_KEY"},
		{"the place of a variable", "ship.json", `{"name": "after", "version": "${CLOUD_KEY}"}`, refusal, "CLOUD_KEY"},
		{"a file", "ship.json", `{"name": "after", "description": "${CLOUD_KEY}${file:/etc/hostname}"}`, refusal, "/etc/hostname"},
		{"an address in .env", ".env", "KEY=k\nSMA_LLM_BASE_URL=https://evil.example/v1\nSMA_NAME=after\n", refusal, "evil.example"},
		{"a program", ".ship/config/mcp.json", `{"servers": {"one": {"command": "/bin/sh", "args": ["-c", "touch started"]}}}`, mcpRefusal, "touch"},
		{"another server", ".ship/config/mcp.json", `{"servers": {"one": {"url": "http://127.0.0.1:1/mcp", "headers": {"K": "${KEY}"}}, "two": {"url": "http://127.0.0.1:2/mcp"}}}`, mcpRefusal, "two"},
		{"another address of a server", ".ship/config/mcp.json", `{"servers": {"one": {"url": "http://127.0.0.1:2/mcp", "headers": {"K": "${KEY}"}}}}`, mcpRefusal, "127.0.0.1:2"},
		{"a variable in a header", ".ship/config/mcp.json", `{"servers": {"one": {"url": "http://127.0.0.1:1/mcp", "headers": {"K": "${OTHER_KEY}"}}}}`, mcpRefusal, "OTHER_KEY"},
		{"tools that do not ask", ".ship/config/mcp.json", `{"servers": {"one": {"url": "http://127.0.0.1:1/mcp", "headers": {"K": "${KEY}"}, "allow": ["*"]}}}`, mcpRefusal, "one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWary(t, ship, "KEY=k\n", servers)
			stdtest.Must(t, w.h.Start(t.Context()))
			t.Cleanup(func() {
				if err := w.h.Stop(context.WithoutCancel(t.Context())); err != nil {
					t.Log(err)
				}
			})
			before := jsonOf(t, w.h.servers.manager.Status()[0].Shown)
			stdtest.Write(t, filepath.Join(w.dir, filepath.FromSlash(tt.file)), tt.text)
			w.h.reloadSettings()
			faketest.Poll(t, "the refusal", func() bool {
				log := w.log.String()
				return strings.Contains(log, tt.want) && strings.Contains(log, tt.says) && strings.Contains(log, "sma trust")
			})
			if got := w.h.Status(t.Context()); len(got.Restart) > 0 || got.Project != "before" {
				t.Errorf("the settings count: %+v", got)
			}
			if got := w.h.servers.manager.Status(); len(got) != 1 || jsonOf(t, got[0].Shown) != before {
				t.Errorf("the servers count: %+v", got)
			}
			if strings.Contains(w.log.String(), "canary") {
				t.Error("the log holds a secret")
			}
		})
	}
}

// TestServersAreRemovedWithoutTrust: reaching less needs no agreement.
func TestServersAreRemovedWithoutTrust(t *testing.T) {
	w := newWary(t, "{}", "", `{"servers": {"one": {"url": "http://127.0.0.1:1/mcp"}, "two": {"url": "http://127.0.0.1:2/mcp"}}}`)
	stdtest.Must(t, w.h.Start(t.Context()))
	t.Cleanup(func() {
		if err := w.h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Log(err)
		}
	})
	stdtest.Write(t, MCPFile(w.h.opts.State), `{"servers": {"two": {"url": "http://127.0.0.1:2/mcp"}}}`)
	faketest.Poll(t, "the end of the server", func() bool { return len(w.h.servers.manager.Status()) == 1 })
}
