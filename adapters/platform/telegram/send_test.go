package telegram_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestSendOnTheWire(t *testing.T) {
	cases := []struct {
		name string
		to   platform.Target
		part platform.Part
		want telegramtest.Params
	}{
		{"plain", target(private, 0), platform.Part{Text: "a < b"}, telegramtest.Params{"chat_id": "77", "text": "a < b"}},
		{"markup", target(private, 0), platform.Part{Text: "x", Markup: "<b>x</b>"}, telegramtest.Params{"chat_id": "77", "text": "<b>x</b>", "parse_mode": "HTML"}},
		{"topic", target(forum, 5), platform.Part{Text: "x"}, telegramtest.Params{"chat_id": "-10055", "text": "x", "message_thread_id": "5"}},
		{"general topic", target(forum, 1), platform.Part{Text: "x"}, telegramtest.Params{"chat_id": "-10055", "text": "x"}},
		{"reply", target(private, 0), platform.Part{Text: "x", ReplyTo: "12"}, telegramtest.Params{
			"chat_id": "77", "text": "x", "reply_parameters": `{"allow_sending_without_reply":true,"message_id":12}`,
		}},
		{"reply to nothing of ours", target(private, 0), platform.Part{Text: "x", ReplyTo: "abc"}, telegramtest.Params{"chat_id": "77", "text": "x"}},
		{"only a key", platform.Target{ChatKey: "telegram-chat--10055-topic-5", Topic: 5}, platform.Part{Text: "x"}, telegramtest.Params{
			"chat_id": "-10055", "text": "x", "message_thread_id": "5",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			id, err := b.bot.Send(t.Context(), c.to, c.part)
			if err != nil || id.ID == "" {
				t.Fatalf("Send: %+v, %v", id, err)
			}
			got := telegramtest.Params{}
			params := b.api.Calls("sendMessage")[0].Params
			for name := range params {
				got[name] = params.Text(name)
			}
			c.want["link_preview_options"] = `{"is_disabled":true}`
			stdtest.Diff(t, "parameters", c.want, got)
		})
	}
}

func TestSendRefusals(t *testing.T) {
	cases := []struct {
		name   string
		spoil  func(*bench)
		to     platform.Target
		part   platform.Part
		reason platform.SendReason
	}{
		{"unknown chat", nil, target(999, 0), platform.Part{Text: "x"}, platform.SendNotFound},
		{"unknown topic", nil, target(forum, 6), platform.Part{Text: "x"}, platform.SendNotFound},
		{"topic of a chat without topics", nil, target(private, 5), platform.Part{Text: "x"}, platform.SendNotFound},
		{"blocked", func(b *bench) { b.api.Block(private) }, target(private, 0), platform.Part{Text: "x"}, platform.SendForbidden},
		{"migrated", func(b *bench) { b.api.Migrate(group, -100777) }, target(group, 0), platform.Part{Text: "x"}, platform.SendMigrated},
		{"too long", nil, target(private, 0), platform.Part{Text: strings.Repeat("x", 4097)}, platform.SendRefused},
		{"no text", nil, target(private, 0), platform.Part{}, platform.SendRefused},
		{"no chat", nil, platform.Target{ChatKey: "odd"}, platform.Part{Text: "x"}, platform.SendRefused},
		{"no file", nil, target(private, 0), platform.Part{Attachment: &platform.Attachment{}}, platform.SendRefused},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			if c.spoil != nil {
				c.spoil(b)
			}
			_, err := b.bot.Send(t.Context(), c.to, c.part)
			e, ok := errors.AsType[*platform.Error](err)
			if !ok || e.Reason != c.reason || e.Retryable || e.Unknown {
				t.Fatalf("got %#v", err)
			}
			if c.reason == platform.SendMigrated && e.NewChat != "-100777" {
				t.Errorf("new chat %q", e.NewChat)
			}
		})
	}
}

// TestTheTokenIsNeverTold makes calls fail in all ways and looks for the token in the errors; the
// bench checks the log.
func TestTheTokenIsNeverTold(t *testing.T) {
	b := newBench(t, nil)
	file := filepath.Join(t.TempDir(), "a.txt")
	stdtest.Must(t, os.WriteFile(file, []byte("x"), 0o600))
	parts := map[string]platform.Part{"sendMessage": {Text: "x"}, "sendDocument": {Attachment: &platform.Attachment{Path: file}}}
	faults := []telegramtest.Fault{
		{Kind: faketest.ResetBefore},
		{Kind: faketest.Garbage, Code: http.StatusBadGateway},
		{Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: "Bad Request: not with " + b.api.Token()},
		{Kind: faketest.Hang},
	}
	for method, part := range parts {
		for _, f := range faults {
			f.Method = method
			b.api.Fail(f)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err := b.bot.Send(ctx, target(private, 0), part)
			cancel()
			if err == nil {
				t.Fatalf("%s %s: no error", method, f.Kind)
			}
			b.clean(t, err.Error())
			for e := err; e != nil; e = errors.Unwrap(e) {
				b.clean(t, e.Error())
			}
		}
	}
	gone := newBench(t, func(o *telegram.Options) { o.BaseURL = "http://" + freeAddress(t) })
	_, err := gone.bot.Send(t.Context(), target(private, 0), platform.Part{Text: "x"})
	e, ok := errors.AsType[*platform.Error](err)
	if !ok || e.Reason != platform.SendNetwork || !e.Retryable || e.Unknown {
		t.Errorf("nothing listens: %#v", err)
	}
	b.clean(t, err.Error())
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	defer l.Close() //nolint:errcheck // it took no connection
	return l.Addr().String()
}

func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("came here with %s, referer %s", r.URL, r.Referer())
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	b := newBench(t, func(o *telegram.Options) { o.BaseURL = server.URL })
	if _, err := b.bot.Send(t.Context(), target(private, 0), platform.Part{Text: "x"}); err == nil {
		t.Error("no error")
	}
}

func TestAttachments(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.txt")
	stdtest.Must(t, os.WriteFile(path, []byte("content"), 0o600))
	b := newBench(t, nil)
	to := target(forum, 5)
	out := platform.Outbound{To: to, Text: "see", ReplyTo: "3", Attachments: []platform.Attachment{
		{Path: path, Kind: "document", Caption: "**the** report"},
		{FileID: "known", Kind: "photo", Caption: strings.Repeat("long caption. ", 120)},
		{FileID: "known", Kind: "voice"},
	}}
	b.api.Fail(telegramtest.Fault{Method: "sendDocument", Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: "Bad Request: can't parse entities: x"})
	for i, p := range b.bot.Plan(out) {
		if _, err := b.bot.Send(t.Context(), to, p); err != nil {
			t.Fatalf("part %d: %v", i, err)
		}
	}
	var methods []string
	for _, c := range b.api.Calls("") {
		methods = append(methods, c.Method)
	}
	want := []string{"sendMessage", "sendDocument", "sendDocument", "sendPhoto", "sendMessage", "sendVoice"}
	stdtest.Diff(t, "calls", want, methods)
	doc := b.api.Calls("sendDocument")
	if p := doc[1].Params; p.Text("document") != "content" || p.Text("file_name") != "report.txt" || p.Text("caption") != "the report" || p.Text("message_thread_id") != "5" {
		t.Errorf("document %v", p)
	}
	if p := b.api.Calls("sendPhoto")[0].Params; p.Text("photo") != "known" || len(p.Text("caption")) > 1024 {
		t.Errorf("photo %v", p)
	}
}

func TestAttachmentTroubles(t *testing.T) {
	part := platform.Part{Attachment: &platform.Attachment{FileID: "x", Kind: "voice"}}
	refuse := func(code int, text string) telegramtest.Fault {
		return telegramtest.Fault{Method: "sendVoice", Kind: faketest.Refuse, Code: code, Text: text}
	}
	limited, moved := refuse(http.StatusTooManyRequests, "Too Many Requests"), refuse(http.StatusBadRequest, "Bad Request: upgraded")
	limited.RetryAfter, moved.MoveTo = 9, -100777
	cases := []struct {
		name  string
		fault telegramtest.Fault
		want  platform.Error
	}{
		{"limited", limited, platform.Error{Reason: platform.SendRate, Retryable: true, RetryAfter: 9 * time.Second}},
		{"moved", moved, platform.Error{Reason: platform.SendMigrated, NewChat: "-100777"}},
		{"forbidden", refuse(http.StatusForbidden, "Forbidden: bot was kicked"), platform.Error{Reason: platform.SendForbidden}},
		{"not found", refuse(http.StatusBadRequest, "Bad Request: chat not found"), platform.Error{Reason: platform.SendNotFound}},
		{"token", refuse(http.StatusUnauthorized, "Unauthorized"), platform.Error{Reason: platform.SendAuth}},
		{"server", refuse(http.StatusInternalServerError, "Internal"), platform.Error{Reason: platform.SendServer, Retryable: true}},
		{"cut", telegramtest.Fault{Method: "sendVoice", Kind: faketest.ResetAfter}, platform.Error{Reason: platform.SendNetwork, Retryable: true, Unknown: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.api.Fail(c.fault)
			_, err := b.bot.Send(t.Context(), target(private, 0), part)
			e, ok := errors.AsType[*platform.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			got := *e
			got.Err = nil
			stdtest.Diff(t, "", c.want, got)
		})
	}
}

func TestEditAndTypingOnTheWire(t *testing.T) {
	b := newBench(t, nil)
	to := target(forum, 5)
	id, err := b.bot.Send(t.Context(), to, platform.Part{Text: "x"})
	stdtest.Must(t, err)
	if err := b.bot.Edit(t.Context(), to, id.ID, platform.Part{Text: "y", Markup: "<b>y</b>"}); err != nil {
		t.Error(err)
	}
	b.api.Fail(telegramtest.Fault{Method: "editMessageText", Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: "Bad Request: can't parse entities: x"})
	if err := b.bot.Edit(t.Context(), to, id.ID, platform.Part{Text: "z", Markup: "<b>z</b>"}); err != nil {
		t.Error(err)
	}
	if got := b.api.Sent(forum); got[0].Text != "z" || got[0].Edits != 2 || got[0].Topic != 5 {
		t.Errorf("got %+v", got)
	}
	if err := b.bot.Typing(t.Context(), to); err != nil {
		t.Error(err)
	}
	if p := b.api.Calls("sendChatAction")[0].Params; p.Text("action") != "typing" || p.Int("message_thread_id") != 5 {
		t.Errorf("typing %v", p)
	}
	if err := b.bot.Edit(t.Context(), to, "x1", platform.Part{Text: "y"}); err == nil {
		t.Error("an odd id was taken")
	}
}

func TestCapabilities(t *testing.T) {
	usual := newBench(t, nil).bot.Capabilities()
	if !usual.Outbox || !usual.ToolEgress || !usual.Drafts || !usual.Threads || usual.Buttons ||
		usual.Rates.PerChat != (platform.Rate{N: 1, Per: time.Second}) || usual.Rates.PerGroup != (platform.Rate{N: 20, Per: time.Minute}) ||
		usual.Rates.PerSender != (platform.Rate{N: 30, Per: time.Second}) {
		t.Errorf("usual: %+v", usual)
	}
	off := newBench(t, func(o *telegram.Options) { o.RateLimit, o.Egress, o.Drafts, o.Account = "off", "direct", "off", "work" }).bot
	if c := off.Capabilities(); c.ToolEgress || c.Drafts || c.Rates != (platform.Rates{}) || off.Name() != "telegram@work" {
		t.Errorf("%s: %+v", off.Name(), c)
	}
}

// BenchmarkSend compares our JSON call with the library's multipart call, against a server that
// only answers.
func BenchmarkSend(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte(`{"ok":true,"result":{"message_id":5,"date":1700000000,"chat":{"id":77,"type":"private","first_name":"Ann"},"from":{"id":1,"is_bot":true},"text":"a usual answer"}}`))
	}))
	defer server.Close()
	b.Run("json", func(b *testing.B) {
		p, err := telegram.New(telegram.Options{Token: func() string { return "1:x" }, BotOptions: platform.BotOptions{BaseURL: server.URL, Access: platform.AccessOpen}})
		stdtest.Must(b, err)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Send(b.Context(), target(private, 0), platform.Part{Text: "a usual answer", Markup: "a <b>usual</b> answer"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		lib, err := bot.New("1:x", bot.WithSkipGetMe(), bot.WithServerURL(server.URL))
		stdtest.Must(b, err)
		off := true
		b.ReportAllocs()
		for b.Loop() {
			if _, err := lib.SendMessage(b.Context(), &bot.SendMessageParams{
				ChatID: private, Text: "a <b>usual</b> answer", ParseMode: models.ParseModeHTML, LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: &off},
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
