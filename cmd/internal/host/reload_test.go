package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
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
	stdtest.Must(t, w.h.Start(t.Context()))
	t.Cleanup(func() {
		if err := w.h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Log(err)
		}
	})
	w.h.live.models.Store(&provider.Choices{})
	model := &config.Settings{}
	model.LLM.Provider = config.ProviderCustom // and no model
	servers := func(text string) func() {
		return func() {
			stdtest.Write(t, MCPFile(w.h.opts.State), text)
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
		{"the changed models cannot be used", func() { again := *model; w.h.replaceModels(&again) }, 1},
	} {
		for range 3 {
			x.look()
		}
		if n := strings.Count(w.log.String(), x.says); n != x.want {
			t.Errorf("%d times %q, want %d: %s", n, x.says, x.want, w.log)
		}
	}
}

// A key that means nothing is named in the log, once, as it is at a start.
func TestReloadNamesUnknownKeys(t *testing.T) {
	c := newChanging(t, "{}", runWhatIsSaid)
	c.save(`{"limits": {"activeChat": 6, "fileMB": 2}}`)
	c.save(`{"limits": {"activeChat": 6, "fileMB": 3}}`)
	if n := strings.Count(c.log.String(), "unknown key"); n != 1 || !strings.Contains(c.log.String(), "activeChats") {
		t.Errorf("%d times an unknown key: %s", n, c.log)
	}
}

// Who may write to a bot changes from the next message on, both ways, and no restart is asked for.
func TestChangedAccessCountsAtOnce(t *testing.T) {
	p := newProject(t)
	p.api.AddChat(telegramtest.Chat{ID: 7, Type: "private"})
	var set atomic.Pointer[map[string]string]
	set.Store(&map[string]string{})
	script := modeltest.NewScript(modeltest.Say("hello"), modeltest.Say("hello again"))
	h := p.start(t, Options{
		Reload: func() (*config.Loaded, error) { return p.load(t, merged(telegramFlags(p), *set.Load())), nil }, Model: script,
	}, telegramFlags(p))
	say := func(text, want string, asked int) {
		t.Helper()
		n := len(p.api.Sent(7))
		p.api.Say(7, 7, text, nil)
		p.api.Await(t, "an answer to "+text, func() bool { return len(p.api.Sent(7)) > n })
		if got := p.api.Sent(7)[n].Text; !strings.Contains(got, want) || len(script.Requests()) != asked {
			t.Errorf("%q got %q after %d requests; want %q after %d", text, got, len(script.Requests()), want, asked)
		}
	}
	change := func(access, groups string) {
		t.Helper()
		set.Store(&map[string]string{"adapters.telegram.access": access, "adapters.telegram.groups": groups})
		h.reloadSettings()
		if st := h.Status(t.Context()); len(st.Restart) > 0 {
			t.Errorf("needs a restart for %v", st.Restart)
		}
	}
	say("everybody", "hello", 1)
	change("owner", "commands")
	say("the owner alone", "", 1)
	change("open", "all")
	say("everybody again", "hello again", 2)
}

// What chats, files and the host itself read when they need it counts at once. The rest is named as long as it differs
// from what the host started with.
func TestChangedSettingsCountAtOnceOrAreNamed(t *testing.T) {
	c := newChanging(t, "{}", runWhatIsSaid)
	c.save(`{"version": "2", "description": "for a test", "log": {"level": "debug", "format": "text"}, "limits": {"fileMB": 1, "activeChats": 6, "residentMB": 400}, "retention": {"tasksDays": 5, "filesDays": 6},
		"context": {"history": {"keepLastMessages": 5, "maxInputTokensApprox": 9000}, "chatQueue": {"mode": "followup", "debounceMs": 1, "maxQueued": 7, "fairness": "arrival"},
			"memory": {"autoExtractEnabled": false, "groups": "off", "maxPrimaryChars": 900}, "chatEgress": {"chatSendMaxCallsPerRun": 3, "idempotency": false}},
		"adapters": {"telegram": {"groupContext": 4}}}`)
	chats := c.h.current.Load().chats
	if chats.Mode != "followup" || chats.MaxQueued != 7 || chats.FairToSenders || chats.MaxSends != 3 || !chats.RepeatSends || chats.KeepLast != 5 || chats.Remembers || chats.MemoryGroups != "off" {
		t.Errorf("chats have %+v", chats.Options)
	}
	if n := c.h.maxFile(); n != 1<<20 {
		t.Errorf("files have at most %d bytes", n)
	}
	if n := c.h.groupContext("telegram-chat--5"); n != 4 {
		t.Errorf("%d messages of a group are quoted", n)
	}
	stdtest.Write(t, filepath.Join(c.dir, "ship.json"), `{"name": "x", "timezone": "UTC", "limits": {"fileMB": 2}, "permissions": {"exec": {"network": "on", "exclude": ["data"]}},
		"context": {"history": {"archiveOnCompact": false}, "contexts": {"enabled": false}}}`)
	want := []string{"context.contexts.enabled", "context.history.archiveOnCompact", "name", "permissions.exec.exclude", "permissions.exec.network", "timezone"}
	faketest.Poll(t, "the settings that need a restart", func() bool { return slices.Equal(c.h.Status(t.Context()).Restart, want) })
	if n := c.h.maxFile(); n != 2<<20 || c.h.current.Load().chats.NoArchive || !c.h.current.Load().chats.Contexts {
		t.Errorf("%d bytes, and %+v", n, c.h.current.Load().chats.Options)
	}
	c.save("{}")
}

// A queue that became shorter is full at once, in a chat with a run in progress.
func TestAChangedQueueCountsDuringARun(t *testing.T) {
	asked, release := make(chan struct{}, 9), make(chan struct{})
	c := newChanging(t, "{}", func(model.Request) []model.Event {
		asked <- struct{}{}
		<-release
		return append(modeltest.TextEvents("Done."), modeltest.Finish("stop"))
	})
	c.api.Say(1, 1, "one", nil)
	<-asked
	c.api.Say(1, 1, "two", nil)
	c.save(`{"context": {"chatQueue": {"maxQueued": 1}}}`)
	c.say("three", "Too many messages are waiting")
	close(release)
	faketest.Poll(t, "the end of the run", func() bool { return strings.Contains(fmt.Sprint(c.api.Sent(1)), "Done.") })
}
