package telegram_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	private = int64(77)
	forum   = int64(-10055)
	group   = int64(-10066)
	owner   = int64(77)
	other   = int64(78)
)

// bench is a bot with its fake server.
type bench struct {
	api *telegramtest.API
	bot *telegram.Platform
	log *platformtest.Log
	// edits counts the edits of people; each edit has its own date.
	edits atomic.Int64
}

// newBench returns a bot; set changes its options. At the end of the test its log must not contain
// the token.
func newBench(t *testing.T, set func(*telegram.Options)) *bench {
	t.Helper()
	b := &bench{api: telegramtest.NewAPI(t), log: &platformtest.Log{}}
	b.api.AddChat(telegramtest.Chat{ID: private, Type: "private"})
	b.api.AddChat(telegramtest.Chat{ID: other, Type: "private"})
	b.api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Group"})
	b.api.AddChat(telegramtest.Chat{ID: forum, Type: "supergroup", Title: "Forum", Forum: true, Topics: []int64{5}})
	o := telegram.Options{
		BotOptions: platform.BotOptions{
			BaseURL: b.api.URL(), Access: platform.AccessOpen, HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
			Commands: []string{"start", "stop", "help", "status", "new", "contexts", "load", "allow", "activation"},
			Logger:   slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
		Token: b.api.Token,
	}
	if set != nil {
		set(&o)
	}
	bot, err := telegram.New(o)
	stdtest.Must(t, err)
	b.bot = bot
	t.Cleanup(func() { b.clean(t, b.log.String()) })
	return b
}

// clean fails the test if a text contains the token.
func (b *bench) clean(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "CANARY") {
		t.Errorf("the token is in %q", text)
	}
}

// receive runs the bot until the test ends.
func (b *bench) receive(t *testing.T, host platform.Host) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.bot.Receive(ctx, host) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Receive: %v", err)
		}
	})
}

func target(chat, topic int64) platform.Target {
	id := strconv.FormatInt(chat, 10)
	return platform.Target{ChatKey: messages.NewChatKey("telegram", "", id, topic), Chat: id, Topic: topic, ChatType: "private"}
}

func (b *bench) say(to platform.Target, text string) string {
	more := map[string]any{}
	chat := number(to.Chat)
	if to.Topic != 0 {
		more["message_thread_id"], more["is_topic_message"] = to.Topic, true
	}
	return strconv.FormatInt(b.api.Say(chat, owner, text, more), 10)
}

func (b *bench) edit(to platform.Target, id, text string) {
	b.api.Edit(number(to.Chat), owner, number(id), 1700000000+b.edits.Add(1), text)
}

func (b *bench) shown(to platform.Target) []string {
	var out []string
	for _, m := range b.api.Sent(number(to.Chat)) {
		if m.Topic == to.Topic {
			out = append(out, m.Text)
		}
	}
	return out
}

func (b *bench) trouble(x platformtest.Trouble) bool {
	f := telegramtest.Fault{Method: "sendMessage", Kind: faketest.Refuse, Code: http.StatusBadRequest}
	switch x {
	case platformtest.Limited:
		f.Code, f.Text, f.RetryAfter = http.StatusTooManyRequests, "Too Many Requests: retry after 7", 7
	case platformtest.Broken:
		f.Code, f.Text = http.StatusInternalServerError, "Internal Server Error"
	case platformtest.CutBefore:
		f.Kind = faketest.ResetBefore
	case platformtest.CutAfter:
		f.Kind = faketest.ResetAfter
	case platformtest.Unauth:
		f.Code, f.Text = http.StatusUnauthorized, "Unauthorized"
	case platformtest.Banned:
		f.Code, f.Text = http.StatusForbidden, "Forbidden: bot was kicked from the group chat"
	case platformtest.Gone:
		f.Text = "Bad Request: chat not found"
	case platformtest.Moved:
		f.Text, f.MoveTo = "Bad Request: group chat was upgraded to a supergroup chat", -100999
	case platformtest.BadMarkup:
		f.Text = "Bad Request: can't parse entities: Unsupported start tag"
	default:
		return false
	}
	b.api.Fail(f)
	return true
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("test ids are numbers: %v", err))
	}
	return n
}
