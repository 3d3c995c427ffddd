package feishu_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	private = "oc_private"
	group   = "oc_group"
	owner   = "ou_owner"
	other   = "ou_other"
)

// bench is an app with its fake service.
type bench struct {
	api  *feishutest.API
	bot  *feishu.Platform
	log  *platformtest.Log
	hook string // URL of the webhook; empty with the long connection
}

// newBench returns an app that receives events by webhook, or, with link, over the long connection;
// set changes its options. At the end of the test its log must not contain a secret.
func newBench(t *testing.T, link bool, set func(*feishu.Options)) *bench {
	t.Helper()
	b := &bench{api: feishutest.NewAPI(t), log: &platformtest.Log{}}
	b.api.AddChat(private, "p2p")
	b.api.AddChat(group, "group")
	b.make(t, link, set)
	return b
}

// make creates another app for the same service, as a restart does.
func (b *bench) make(t *testing.T, link bool, set func(*feishu.Options)) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	o := feishu.Options{
		BotOptions: platform.BotOptions{
			BaseURL: b.api.URL(), Access: platform.AccessOpen, StateDir: t.TempDir(), Now: b.api.Now, HTTPClient: &http.Client{Transport: transport},
			Commands: []string{"start", "stop", "help", "status", "new", "contexts", "load", "allow"},
			Logger:   slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
		AppID: feishutest.App, AppSecret: b.api.Secret, PingEvery: time.Second,
		Rates: platform.Rates{PerChat: platform.Rate{N: 5, Per: time.Second}, PerSender: platform.Rate{N: 50, Per: time.Second}},
	}
	if !link {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		stdtest.Must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		b.hook = "http://" + l.Addr().String() + "/feishu"
		b.api.SetWebhook(b.hook)
		o.Webhook = &feishu.Webhook{Path: "/feishu", Listener: l, EncryptKey: b.api.EncryptKey, VerificationToken: b.api.VerificationToken}
	}
	if set != nil {
		set(&o)
	}
	bot, err := feishu.New(o)
	stdtest.Must(t, err)
	b.bot = bot
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		b.clean(t, b.log.String())
	})
}

// clean fails the test if a text contains a secret.
func (b *bench) clean(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "CANARY") {
		t.Errorf("a secret is in %q", text)
	}
}

// receive runs the app until the test ends, or until stop is called.
func (b *bench) receive(t *testing.T, host platform.Host) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.bot.Receive(ctx, host) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Receive: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func target(chat string) platform.Target {
	return platform.Target{ChatKey: messages.NewChatKey("feishu", "", chat, 0), Chat: chat, ChatType: "p2p"}
}

// inGroup returns a group message that mentions the bot.
func inGroup(text string) map[string]any {
	return map[string]any{
		"content":  fmt.Sprintf(`{"text":"@_user_1 %s"}`, text),
		"mentions": []any{feishutest.Mention("@_user_1", feishutest.Bot, "Sample")},
	}
}

func (b *bench) shown(to platform.Target) []string {
	var out []string
	for _, m := range b.api.Sent(to.Chat) {
		out = append(out, m.Text)
	}
	return out
}

func (b *bench) trouble(x platformtest.Trouble) bool {
	f := feishutest.Fault{Path: "/im/v1/messages", Kind: faketest.Refuse}
	switch x {
	case platformtest.Limited:
		f.Status, f.Code, f.Text, f.RetryAfter = http.StatusTooManyRequests, 99991400, "request trigger frequency limit", 7
	case platformtest.Broken:
		f.Status, f.Code, f.Text = http.StatusInternalServerError, 2200, "Internal Error"
	case platformtest.CutBefore:
		f.Kind = faketest.ResetBefore
	case platformtest.CutAfter:
		f.Kind = faketest.ResetAfter
	case platformtest.Unauth:
		f.Code, f.Text, f.N = 99991663, "Invalid access token for authorization.", 2
	case platformtest.Banned:
		f.Code, f.Text = 230002, "Bot/User can NOT be out of the chat."
	case platformtest.Gone:
		f.Code, f.Text = 230001, "Your request contains an invalid request parameter, ext=invalid receive_id."
	case platformtest.BadMarkup:
		f.Code, f.Text = 230001, "Your request contains an invalid request parameter, ext=invalid message content."
	default:
		return false
	}
	b.api.Fail(f)
	return true
}
