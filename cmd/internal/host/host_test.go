package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

type project struct {
	dir string
	api *telegramtest.API
	log *platformtest.Log
}

func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{dir: t.TempDir(), api: telegramtest.NewAPI(t), log: &platformtest.Log{}}
	p.api.AddChat(telegramtest.Chat{ID: 1, Type: "private"})
	stdtest.Write(t, filepath.Join(p.dir, "Agent.md"), "# Ada\n\nKind.")
	return p
}

// load reads the project's settings; flags take precedence.
func (p *project) load(t *testing.T, flags map[string]string) *config.Loaded {
	t.Helper()
	loaded, err := p.read(flags)
	stdtest.Must(t, err)
	return loaded
}

func (p *project) read(flags map[string]string) (*config.Loaded, error) {
	all := map[string]string{"metrics.listen": "127.0.0.1:0", "adapters.web.listen": "127.0.0.1:0"}
	maps.Copy(all, flags)
	env := func(name string) (string, bool) {
		switch name {
		case "SMA_ADAPTERS_TELEGRAM_BOT_TOKEN":
			return p.api.Token(), flags["adapters.telegram.enabled"] == "true"
		case "OPENAI_API_KEY":
			return "sk-canary-0123456789", flags["llm.provider"] != "demo"
		default:
			return "", false
		}
	}
	return config.Load(config.Options{Dir: p.dir, Env: env, Flags: all})
}

func (p *project) start(t *testing.T, o Options, flags map[string]string) *Host {
	t.Helper()
	h := p.prepare(t, o, flags)
	if err := h.Start(t.Context()); err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return h
}

func (p *project) prepare(t *testing.T, o Options, flags map[string]string) *Host {
	t.Helper()
	o.Dir, o.State, o.Settings = p.dir, filepath.Join(p.dir, ".ship"), p.load(t, flags)
	if o.Trust == nil { // the folder is the test's own
		o.Trust = func([]config.Reach) error { return nil }
	}
	o.Version, o.Logger = "test", slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return New(o)
}

func telegramFlags(p *project) map[string]string {
	return map[string]string{
		"adapters.telegram.enabled": "true", "adapters.telegram.baseUrl": p.api.URL(), "adapters.telegram.access": "open",
		"adapters.telegram.rateLimit": "off", "adapters.telegram.drafts": "off", "adapters.web.enabled": "false", "llm.model": "fake",
	}
}

// getPage requests an address of the web page as a logged-in user.
func getPage(t *testing.T, h *Host, path string) (int, string) {
	t.Helper()
	return getAs(t, h.webAddr+path, h.login.token.Reveal())
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	return getAs(t, url, "")
}

func getAs(t *testing.T, url, token string) (int, string) {
	t.Helper()
	code, _, text := request(t, http.MethodGet, url, token, "")
	return code, text
}

// request sends a body of JSON, if there is one, with a token, if there is one, and returns the whole answer. More
// headers are given as names and values.
func request(t *testing.T, method, url, token, body string, more ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	stdtest.Must(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(more); i += 2 {
		req.Header.Set(more[i], more[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }() // read to its end
	text, err := io.ReadAll(resp.Body)
	stdtest.Must(t, err)
	return resp.StatusCode, resp.Header, string(text)
}

func TestHostAnswersOnTelegram(t *testing.T) {
	p := newProject(t)
	script := modeltest.NewScript(
		modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: `{"text":"**hello**","final":true}`}),
		modeltest.Say("unasked"),
	)
	h := p.start(t, Options{Model: script}, telegramFlags(p))
	p.api.Say(1, 1, "hi, my name is canary-words", nil)
	p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(1, 1, "/status", nil)
	p.api.Await(t, "the status", func() bool { return len(p.api.Sent(1)) == 2 })
	if sent := p.api.Sent(1); sent[0].Text != "hello" || !strings.Contains(sent[1].Text, "model: fake") {
		t.Errorf("sent = %+v", sent)
	}
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d model calls, want 1: the final chat_send ends the run", n)
	}
	if faults := script.Faults(); len(faults) > 0 {
		t.Errorf("faults: %v", faults)
	}
	status := h.Status(t.Context())
	for _, ps := range status.Platforms {
		if ps.Name == "telegram" && (!ps.Up || ps.Bot != "@"+telegramtest.BotName) {
			t.Errorf("telegram = %+v, want it up under its name", ps)
		}
	}
	_, metrics := get(t, "http://"+h.metricsAddr+"/metrics")
	for _, want := range []string{`sma_platform_up{platform="telegram"} 1`, "sma_build_info{", "sma_dead_letters_total 0", "sma_chats_active 1"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	for what, text := range map[string]string{"metrics": metrics, "log": p.log.String()} {
		if strings.Contains(text, "canary") || strings.Contains(text, p.api.Token()) {
			t.Errorf("the %s tell a secret or a message", what)
		}
	}
}

func TestReadyz(t *testing.T) {
	p := newProject(t)
	h := p.prepare(t, Options{}, map[string]string{"llm.provider": "demo"})
	stdtest.Must(t, h.Start(t.Context()))
	base := "http://" + h.metricsAddr
	if code, text := get(t, base+"/readyz"); code != http.StatusOK || text != "ready\n" {
		t.Errorf("readyz = %d %q", code, text)
	}
	_, text := get(t, base+"/readyz?verbose")
	var s Status
	stdtest.Must(t, json.Unmarshal([]byte(text), &s))
	if s.State != StateReady || !s.Demo || s.PID != os.Getpid() || len(s.Platforms) != 4 {
		t.Errorf("status = %+v", s)
	}
	if code, _ := get(t, base+"/livez"); code != http.StatusOK {
		t.Errorf("livez = %d", code)
	}
	web := PlatformStatus{Name: nameWeb, On: true, Note: "gone"}
	h.board.platform(web)
	if code, text := get(t, base+"/readyz"); code != http.StatusServiceUnavailable || text != "web is down\n" {
		t.Errorf("readyz without the web = %d %q", code, text)
	}
	web.Up = true
	h.board.platform(web)
	h.board.enter(StateDraining)
	if code, text := get(t, base+"/readyz"); code != http.StatusServiceUnavailable || text != "the host is draining\n" {
		t.Errorf("readyz while draining = %d %q", code, text)
	}
	if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := os.Stat(SocketPath(h.opts.State)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the control socket is still there: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	demo := map[string]string{"llm.provider": "demo"}
	tests := []struct {
		name   string
		change func(t *testing.T, p *project) map[string]string
		kind   Kind
		help   string
	}{
		{"no Agent.md", func(t *testing.T, p *project) map[string]string {
			t.Helper()
			p.dir = filepath.Join(p.dir, "my bot")
			stdtest.Must(t, os.Mkdir(p.dir, 0o700))
			return demo
		}, KindConfig, "/my bot'"},
		{"another process", func(t *testing.T, p *project) map[string]string {
			t.Helper()
			p.start(t, Options{}, demo)
			return demo
		}, KindRunning, "sma status"},
		{"a port that is taken", func(t *testing.T, _ *project) map[string]string {
			t.Helper()
			other := newProject(t)
			h := other.start(t, Options{}, demo)
			return map[string]string{"llm.provider": "demo", "adapters.web.listen": strings.TrimPrefix(h.webAddr, "http://")}
		}, KindUnreachable, "adapters.web.listen"},
		{"a restore that was killed", func(t *testing.T, p *project) map[string]string {
			t.Helper()
			stdtest.Write(t, filepath.Join(p.dir, ".ship.restoring", "access.json"), "{}")
			return demo
		}, KindFailed, "sma restore BACKUP"},
		{"people that cannot be read", func(t *testing.T, p *project) map[string]string {
			t.Helper()
			stdtest.Write(t, filepath.Join(p.dir, ".ship", "access.json"), "{")
			return telegramFlags(p)
		}, KindConfig, "sma doctor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			h := p.prepare(t, Options{}, tt.change(t, p))
			err := h.Start(t.Context())
			f, ok := errors.AsType[*Failure](err)
			if !ok || f.Kind != tt.kind || !strings.Contains(f.Help, tt.help) {
				t.Fatalf("start = %v (%+v), want %s and help with %q", err, f, tt.kind, tt.help)
			}
			if len(h.cleanups.steps) > 0 {
				t.Errorf("%d parts were left", len(h.cleanups.steps))
			}
		})
	}
}

// Ctrl-C during a start stops what was started.
func TestStartThatIsInterrupted(t *testing.T) {
	h := newProject(t).prepare(t, Options{}, map[string]string{"llm.provider": "demo"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Start(ctx); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "actors: ") {
		t.Errorf("start = %v, want nothing but that it was interrupted", err)
	}
}

func TestTakenMetricsPortIsNoReasonNotToStart(t *testing.T) {
	first, second := newProject(t), newProject(t)
	demo := map[string]string{"llm.provider": "demo"}
	h := first.start(t, Options{}, demo)
	demo["metrics.listen"] = h.metricsAddr
	second.start(t, Options{}, demo)
	if !strings.Contains(second.log.String(), "metrics are not served") {
		t.Errorf("no warning in the log:\n%s", second.log)
	}
}

func TestChangesAreTakenIn(t *testing.T) {
	p := newProject(t)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"log":{"level":"info"}}`)
	flags := map[string]string{"llm.provider": "demo"}
	var log atomic.Pointer[config.Log]
	reload := func() (*config.Loaded, error) {
		all := map[string]string{"metrics.listen": "127.0.0.1:0", "adapters.web.listen": "127.0.0.1:0", "llm.provider": "demo"}
		return config.Load(config.Options{Dir: p.dir, Flags: all})
	}
	h := p.start(t, Options{Reload: reload, Log: func(s config.Log) { log.Store(&s) }}, flags)
	stdtest.Write(t, filepath.Join(p.dir, "Agent.md"), "# 小明，一个友好的助手")
	faketest.Poll(t, "the new Agent.md", func() bool {
		return h.docs.Chinese() && h.docs.Of("web-chat-x").Agent == "# 小明，一个友好的助手"
	})
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"log":{"level":"debug","format":"json"},"name":"Bob"}`)
	faketest.Poll(t, "the new settings", func() bool {
		return len(h.Status(t.Context()).Restart) > 0 && *log.Load() == config.Log{Level: "debug", Format: "json"}
	})
	if got := h.Status(t.Context()).Restart; len(got) != 1 || got[0] != "name" {
		t.Errorf("needs a restart: %q, want the name alone", got)
	}
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"log":`)
	faketest.Poll(t, "a warning", func() bool { return strings.Contains(p.log.String(), "the previous ones stay in effect") })
}

// leave leaves the conversation of a private chat, once the run whose answer was seen has ended:
// while a run is in progress, /new is refused.
func (p *project) leave(t *testing.T, h *Host, chat int64) {
	t.Helper()
	faketest.Poll(t, "rest", func() bool {
		view, err := h.ports["telegram"].port.History(t.Context(), messages.ChatKey(fmt.Sprintf("telegram-chat-%d", chat)))
		return err == nil && !view.Running && view.Counts.Open == 0
	})
	n := len(p.api.Sent(chat))
	p.api.Say(chat, chat, "/new", nil)
	p.api.Await(t, "the new conversation", func() bool { return len(p.api.Sent(chat)) > n })
}

func TestOwnerCodeForANewBot(t *testing.T) {
	p := newProject(t)
	flags := telegramFlags(p)
	flags["adapters.telegram.access"] = "paired"
	h := p.start(t, Options{Model: modeltest.NewScript(modeltest.Say("hello, owner"))}, flags)
	s, err := h.Summary(t.Context())
	if err != nil || s.OwnerCode == "" {
		t.Fatalf("summary = %+v, %v; want a code", s, err)
	}
	p.api.Say(1, 1, "/start "+s.OwnerCode, nil)
	p.api.Await(t, "the greeting", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(1, 1, "hi", nil)
	p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == 2 })
	if s, err := h.Summary(t.Context()); err != nil || s.OwnerCode != "" {
		t.Errorf("a bot with an owner gets another code: %v", err)
	}
}
