package host

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/config"
)

// Looks that find the same fault warn once: the log may be in a folder that is watched.
func TestReloadWarnsOnce(t *testing.T) {
	var log bytes.Buffer
	fault := errors.New("a fault")
	h := &Host{log: slog.New(slog.NewTextHandler(&log, nil)), opts: Options{Reload: func() (*config.Loaded, error) { return nil, fault }}}
	warned := func(want int) {
		t.Helper()
		for range 3 {
			h.reloadSettings()
		}
		if n := bytes.Count(log.Bytes(), []byte("level=WARN")); n != want {
			t.Errorf("%d warnings, want %d: %s", n, want, &log)
		}
	}
	warned(1)
	fault = errors.New("another fault")
	warned(2)
}

// So do looks at the MCP servers and at models that cannot be used.
func TestReloadsOfServersAndModelsWarnOnce(t *testing.T) {
	w := newWary(t, "{}", "", `{"servers": {"one": {"url": "http://127.0.0.1:1/mcp"}}}`)
	if err := w.h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Log(err)
		}
	})
	w.h.live.models.Store(&provider.Choices{})
	model := &config.Loaded{}
	model.Settings.LLM.Provider = config.ProviderCustom // and no model
	servers := func(text string) func() {
		return func() {
			write(t, MCPFile(w.h.opts.State), text)
			w.h.applyMCP(t.Context())
		}
	}
	for _, x := range []struct {
		says string
		look func()
		want int
	}{
		{"the MCP servers cannot be read", servers("{"), 1},
		{"the changed MCP servers are not trusted", servers(`{"servers": {"one": {"command": "/bin/sh"}}}`), 1},
		{"the MCP servers cannot be read", servers("{"), 2},
		{"the changed models cannot be used", func() { w.h.replaceModels(model, nil) }, 1},
	} {
		for range 3 {
			x.look()
		}
		if n := strings.Count(w.log.String(), x.says); n != x.want {
			t.Errorf("%d times %q, want %d: %s", n, x.says, x.want, w.log)
		}
	}
}
