package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// canaries are the secrets of a project, by the place where they are kept. One of them does not
// belong to the host: it is only in the environment.
func canaries(api *telegramtest.API) map[string]string {
	return map[string]string{
		"model key, environment":     "sk-canary-0123456789",
		"fallback key, .env":         "sk-canary-fallback-4f1b",
		"bot token, environment":     api.Token(),
		"webhook secret, ship.json":  "canary_webhook_9d2c",
		"web token, file":            "canary-web-token-77aa",
		"api token, ship.json":       "canary-api-token-51ce",
		"app secret, environment":    "canary-feishu-secret-08",
		"verification token, .env":   "canary-verification-3e",
		"encrypt key, environment":   "canary-encrypt-key-c4",
		"server header, mcp.json":    "canary-mcp-header-6b6b",
		"server query, environment":  "canary-mcp-query-1f90",
		"database DSN, environment":  "postgres://sma:canary-dsn-a1@db/sma",
		"somebody's password, .env":  "canary-env-password-ee",
		"server's variable, literal": "canary-mcp-env-2a2a",
	}
}

// faulty is a model API that refuses the first requests with an error that contains the key, and
// forwards later requests to a real one.
type faulty struct {
	http.Handler
	mu     sync.Mutex
	refuse int
	code   int
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refuse := f.refuse != 0
	f.refuse = max(f.refuse-1, min(f.refuse, 0)) // below zero: for ever
	f.mu.Unlock()
	if !refuse {
		f.Handler.ServeHTTP(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // read to its end
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Echo", r.Header.Get("Authorization"))
	w.WriteHeader(f.code)
	words, _ := json.Marshal("Incorrect API key provided: " + r.Header.Get("Authorization") + " " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	_, _ = fmt.Fprintf(w, `{"error":{"message":%s,"type":"invalid_request_error","code":"invalid_api_key"}}`, words)
}

// secretive is a project with canaries in all places.
type secretive struct {
	*world
	secrets map[string]string
	llm     *modeltest.Server
}

func newSecretive(t *testing.T) *secretive {
	t.Helper()
	s := &secretive{world: newWorld(t)}
	s.secrets = canaries(s.api)
	s.llm = modeltest.NewServer(s.script, modeltest.ServerOptions{Key: s.secrets["model key, environment"]})
	t.Cleanup(s.llm.Close)
	target, err := url.Parse(strings.TrimSuffix(s.llm.URL, "/v1"))
	stdtest.Must(t, err)
	main := httptest.NewServer(&faulty{Handler: httputil.NewSingleHostReverseProxy(target), refuse: 1, code: http.StatusUnauthorized})
	t.Cleanup(main.Close)
	second := httptest.NewServer(&faulty{refuse: -1, code: http.StatusForbidden})
	t.Cleanup(second.Close)
	leaky := func(name string, fails bool) {
		sdk.AddTool(s.remote.server, &sdk.Tool{Name: name, Description: "repeats what it knows"}, func(_ context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{IsError: fails, Content: []sdk.Content{&sdk.TextContent{Text: s.all()}}}, nil, nil
		})
	}
	leaky("leak", false)
	leaky("leakfail", true)
	s.remote.more = []string{"leak", "leakfail"}
	stdtest.Write(t, filepath.Join(s.dir, ".env"), "FALLBACK_API_KEY="+s.secrets["fallback key, .env"]+"\nFEISHU_VERIFICATION_TOKEN="+s.secrets["verification token, .env"]+
		"\nDB_PASSWORD="+s.secrets["somebody's password, .env"]+"\n")
	stdtest.Write(t, filepath.Join(s.dir, "web.token"), s.secrets["web token, file"]+"\n")
	stdtest.Write(t, filepath.Join(s.dir, ".ship", "config", "mcp.json"), `{"mcpServers": {
		"remote": {"url": "`+s.remote.url+`/mcp?key=${MCP_QUERY}", "headers": {"Authorization": "Bearer ${OPENAI_API_KEY}", "X-Key": "`+s.secrets["server header, mcp.json"]+`"}, "allow": ["leak", "leakfail"]},
		"absent": {"command": "no-such-program", "args": ["--token", "${MCP_QUERY}"], "env": {"API_KEY": "`+s.secrets["server's variable, literal"]+`"}}}}`)
	stdtest.Write(t, filepath.Join(s.dir, "ship.json"), `{
		"llm": {"provider": "custom", "model": "fake", "baseUrl": "`+main.URL+`/v1", "apiKey": "${OPENAI_API_KEY}",
			"fallbacks": [{"provider": "custom", "model": "other", "baseUrl": "`+second.URL+`/v1", "apiKey": "${FALLBACK_API_KEY}"}]},
		"permissions": {"exec": {"sandbox": "off", "approvers": ["1"], "allow": ["cat *"]}, "fetch": {"allow": ["127.0.0.1"]}},
		"adapters": {"web": {"token": "${file:web.token}"}, "api": {"enabled": true, "token": "`+s.secrets["api token, ship.json"]+`"},
			"telegram": {"webhook": {"secret": "`+s.secrets["webhook secret, ship.json"]+`"}},
			"feishu": {"appSecret": "${FEISHU_APP_SECRET}", "verificationToken": "${FEISHU_VERIFICATION_TOKEN}", "encryptKey": "${FEISHU_ENCRYPT_KEY}"}}}`)
	stdtest.Write(t, filepath.Join(s.dir, "probe.sh"), "env > child.txt\nps -eo args >> child.txt 2>/dev/null || cat /proc/[0-9]*/cmdline >> child.txt\ntr '\\0' '\\n' < /proc/self/environ >> child.txt\n")
	return s
}

// all is the text of all secrets that the host was given.
func (s *secretive) all() string {
	return strings.Join(slices.Sorted(maps.Values(s.hosts())), " | ")
}

// hosts are the secrets that belong to the host itself.
func (s *secretive) hosts() map[string]string {
	out := maps.Clone(s.secrets)
	delete(out, "database DSN, environment") // nobody told the host of it
	delete(out, "somebody's password, .env")
	delete(out, "server header, mcp.json") // these are the servers'
	delete(out, "server query, environment")
	delete(out, "server's variable, literal")
	return out
}

func (s *secretive) options(t *testing.T) Options {
	t.Helper()
	env := map[string]string{
		"OPENAI_API_KEY": s.secrets["model key, environment"], "SMA_ADAPTERS_TELEGRAM_BOT_TOKEN": s.secrets["bot token, environment"],
		"FEISHU_APP_SECRET": s.secrets["app secret, environment"], "FEISHU_ENCRYPT_KEY": s.secrets["encrypt key, environment"],
		"MCP_QUERY": s.secrets["server query, environment"], "DATABASE_URL": s.secrets["database DSN, environment"],
	}
	for name, value := range env {
		t.Setenv(name, value) // children inherit it if nobody is careful
	}
	flags := telegramFlags(s.project)
	delete(flags, "llm.model")
	maps.Copy(flags, map[string]string{
		"metrics.listen": "127.0.0.1:0", "adapters.web.listen": "127.0.0.1:0", "adapters.web.enabled": "true", "adapters.telegram.egress": "direct",
	})
	loaded, err := config.Load(config.Options{Dir: s.dir, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Flags: flags})
	stdtest.Must(t, err)
	for _, f := range loaded.Findings {
		_, _ = fmt.Fprintln(s.log, f.String())
	}
	return Options{
		Dir: s.dir, State: filepath.Join(s.dir, ".ship"), Settings: loaded, Version: "test",
		Logger:    slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		fetchable: []netip.AddrPort{s.good.port(t)},
		Trust:     func([]config.Reach) error { return nil },
	}
}

// After a run in which everything fails, everything that it left is searched for secrets.
func TestSE2SecretsAreNowhere(t *testing.T) {
	s := newSecretive(t)
	h := New(s.options(t))
	stdtest.Must(t, h.Start(t.Context()))
	faketest.Poll(t, "the tools of the server", func() bool { return len(h.servers.manager.Tools()) == len(s.tools()) })
	bot := s.api
	const chat = 1 // the approver's
	bot.AddChat(telegramtest.Chat{ID: chat, Type: "private"})
	ask := func(text string) {
		n := len(bot.Sent(chat))
		bot.Say(chat, chat, text, nil)
		bot.Await(t, "an answer to "+text, func() bool { return len(bot.Sent(chat)) > n })
	}
	ask("hello") // both models refuse their keys
	bot.Fail(telegramtest.Fault{Method: "sendMessage", Kind: faketest.ResetBefore})
	bot.Fail(telegramtest.Fault{Method: "sendMessage", Kind: faketest.Garbage, Code: http.StatusBadGateway})
	ask("hello again") // the address of a failed call has the token in it
	stdtest.Write(t, filepath.Join(s.dir, "leak.txt"), s.all()+"\n")
	// This is more than a result holds, with secrets at every place where a pipe or a buffer ends.
	stdtest.Write(t, filepath.Join(s.dir, "big.txt"), strings.Repeat("some words "+s.all()+"\n", 400))
	for id, e := range map[string]errand{
		"big": {"exec_shell", `{"command":"cat big.txt","why":"x"}`}, "bigfile": {"read_file", `{"path":"big.txt"}`},
		"file": {"read_file", `{"path":"leak.txt"}`}, "search": {"search_files", `{"query":"canary"}`}, "dotenv": {"read_file", `{"path":".env"}`},
		"output": {"exec_shell", `{"command":"cat leak.txt","why":"x"}`}, "child": {"exec_shell", `{"command":"sh probe.sh","why":"x"}`},
		"server": {"remote_leak", `{}`}, "servererr": {"remote_leakfail", `{}`}, "settings": {"read_file", `{"path":"ship.json"}`},
		"page": {"web_fetch", `{"url":"` + s.good.url + `/text/x?key=1"}`}, "badurl": {"web_fetch", `{"url":"http://user:pass@127.0.0.1:1/"}`},
	} {
		s.model.tell(s.model.runs, id, e)
		ask("RUN-" + id + "-NOW")
		faketest.Poll(t, id, func() bool { return s.model.did("RUN-" + id) })
		s.settle(t, chat, chat, id)
		if id == "child" {
			ask("/approve 1")
			faketest.Poll(t, "the command", func() bool { return s.holds("child.txt", "PATH=") })
		}
	}
	s.model.tell(s.model.runs, "echo", errand{input: "The provider says: " + s.all()})
	ask("RUN-echo-NOW")
	s.settle(t, chat, chat, "echoed")
	for _, path := range []string{"/?token=wrong", "/api/chat", "/v1/none"} {
		getAs(t, h.webAddr+path, s.secrets["web token, file"]+"x")
	}
	_, metrics := get(t, "http://"+h.metricsAddr+"/metrics")
	status := jsonOf(t, h.Status(t.Context()))
	servers := jsonOf(t, h.servers.manager.Status())
	if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("stop: %v", err)
	}
	outputs := map[string]string{
		"the log": s.log.String(), "the metrics": metrics, "the status": status, "the servers": servers,
		"the messages": s.texts(chat), "the prompts": string(bytes.Join(s.llm.Bodies(), nil)), "the settings as they are shown": jsonOf(t, h.opts.Settings.Settings),
		"the settings as they are printed": fmt.Sprintf("%v %+v %#v", h.opts.Settings.Settings, h.opts.Settings.Settings, h.opts.Settings.Settings),
	}
	child, err := os.ReadFile(filepath.Join(s.dir, "child.txt"))
	if err != nil || !strings.Contains(string(child), "PATH=") {
		t.Errorf("the child told nothing: %v", err)
	}
	outputs["a child's environment and all arguments"] = string(child)
	for name, text := range stdtest.Files(t, filepath.Join(s.dir, ".ship")) {
		if !strings.HasSuffix(name, "mcp.json") { // where the operator put some
			outputs[filepath.Join(s.dir, ".ship", name)] = text
		}
	}
	for where, text := range outputs {
		for kind, secret := range s.secrets {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("%s: there is the %s: …%.200s…", where, kind, text[max(0, i-150):])
			}
		}
	}
	whole, err := filepath.Glob(filepath.Join(s.dir, ".ship", "files", "results", "*", "*call-RUN-big.txt"))
	if err != nil || len(whole) != 1 || strings.Count(outputs[whole[0]], "********") < 400*len(s.hosts()) {
		t.Errorf("the whole of the long output is in %v, %v; want it once, masked", whole, err)
	}
	for _, want := range []string{"the log", "the messages", "the prompts", "the metrics"} {
		if len(outputs[want]) < 100 {
			t.Errorf("%s say nothing: %q", want, outputs[want])
		}
	}
	if !strings.Contains(outputs["the prompts"], "********") || !strings.Contains(outputs["the messages"], "The provider says: ********") {
		t.Error("nothing was masked: the leaks did not happen")
	}
	t.Logf("%d secrets, %d outputs", len(s.secrets), len(outputs))
}
