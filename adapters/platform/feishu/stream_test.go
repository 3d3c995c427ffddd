package feishu_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// bubble returns an app with cards for use in simulated time.
func bubble(t *testing.T) (*feishutest.API, *feishu.Platform) {
	t.Helper()
	api := feishutest.NewAPIInProcess(t)
	return api, botOf(t, api)
}

func botOf(t *testing.T, api *feishutest.API) *feishu.Platform {
	t.Helper()
	bot, err := feishu.New(feishu.Options{
		BotOptions: platform.BotOptions{
			BaseURL: api.URL(), HTTPClient: api.Client(), Access: platform.AccessOpen, Drafts: feishu.DraftsCard, Now: api.Now,
		},
		AppID: feishutest.App, AppSecret: api.Secret,
	})
	stdtest.Must(t, err)
	return bot
}

// finish delivers the end of a text as the core does: into its card, or, if that is refused, as a
// message. It returns how often the card was tried.
func finish(t *testing.T, bot *feishu.Platform, chat, card, text string) (tries int) {
	t.Helper()
	part := bot.Plan(platform.Outbound{To: target(chat), ID: "end " + text, Text: text})[0]
	for tries = 1; ; tries++ {
		err := bot.Edit(t.Context(), target(chat), card, part)
		e, ok := errors.AsType[*platform.Error](err)
		switch {
		case err == nil:
			return tries
		case !ok:
			t.Fatal(err)
		case !e.Retryable:
			if _, err := bot.Send(t.Context(), target(chat), part); err != nil {
				t.Fatal(err)
			}
			return tries
		case tries > 8:
			t.Fatalf("the card is tried for ever: %v", err)
		}
		<-time.After(max(e.RetryAfter, time.Second))
	}
}

// TestStreamingCard checks that an unfinished text is written into a card with growing sequence
// numbers, also across a restart, and that the complete text ends the streaming.
func TestStreamingCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, bot := bubble(t)
		api.AddChat(private, "p2p")
		plan := func(text string, draft bool) platform.Part {
			return bot.Plan(platform.Outbound{To: target(private), ID: "m/1", Text: text, Draft: draft})[0]
		}
		id, err := bot.Send(t.Context(), target(private), plan("one", true))
		stdtest.Must(t, err)
		last := int64(0)
		for i, step := range []struct {
			text  string
			draft bool
		}{{"one two", true}, {"one two three", true}, {"one two three four", false}} {
			if i == 1 {
				bot = botOf(t, api) // a restart
			}
			<-time.After(200 * time.Millisecond)
			if err := bot.Edit(t.Context(), target(private), id.ID, plan(step.text, step.draft)); err != nil {
				t.Fatalf("%q: %v", step.text, err)
			}
			shown := api.Sent(private)[0]
			if n := api.CardSequence(id.ID); shown.Text != step.text || shown.Streaming != step.draft || n <= last {
				t.Errorf("shown %+v, number %d after %d", shown, n, last)
			} else {
				last = n
			}
		}
		if err := bot.Edit(t.Context(), target(private), id.ID, plan("one two three four", false)); err != nil {
			t.Errorf("once more: %v", err)
		}
		if n := len(api.Sent(private)); n != 1 {
			t.Errorf("%d messages", n)
		}
	})
}

// TestCardFallback checks that whatever the service says about a card, the whole text appears once
// at the end, and nothing continues to stream.
func TestCardFallback(t *testing.T) {
	const draft, whole = "the beginning", "the beginning and the end"
	refuse := func(path string, status, code int, n int) feishutest.Fault {
		return feishutest.Fault{Path: path, Kind: faketest.Refuse, Status: status, Code: code, Text: "no", N: n}
	}
	for name, x := range map[string]struct {
		faults []feishutest.Fault
		wait   time.Duration // between the draft and the end
		kind   string        // of the message with the whole text
		tries  int
	}{
		"good":                  {nil, 0, "interactive", 1},
		"text refused":          {[]feishutest.Fault{refuse("/content", 400, 300301, 1)}, 0, "post", 1},
		"card is too old":       {[]feishutest.Fault{refuse("/cardkit/", 400, 300304, -1)}, 0, "post", 1},
		"right is withdrawn":    {[]feishutest.Fault{refuse("/cardkit/", 400, 99991672, -1)}, 0, "post", 1},
		"number is refused":     {[]feishutest.Fault{refuse("/content", 400, 300317, 2)}, 0, "post", 1},
		"once too small":        {[]feishutest.Fault{refuse("/content", 400, 300317, 1)}, 0, "interactive", 1},
		"service fails once":    {[]feishutest.Fault{refuse("/content", 500, 2200, 1)}, 0, "interactive", 2},
		"service fails":         {[]feishutest.Fault{refuse("/cardkit/", 500, 2200, -1)}, 0, "post", 3},
		"limited once":          {[]feishutest.Fault{refuse("/content", 429, 99991400, 1)}, 0, "interactive", 2},
		"limited for ever":      {[]feishutest.Fault{refuse("/content", 429, 99991400, -1)}, 0, "post", 3},
		"cut before":            {[]feishutest.Fault{{Path: "/content", Kind: faketest.ResetBefore}}, 0, "interactive", 2},
		"cut after":             {[]feishutest.Fault{{Path: "/content", Kind: faketest.ResetAfter}}, 0, "interactive", 2},
		"streams no more":       {nil, 11 * time.Minute, "interactive", 1},
		"end is refused":        {[]feishutest.Fault{refuse("/settings", 400, 300302, -1)}, 0, "interactive", 1},
		"nor is it taken back":  {[]feishutest.Fault{refuse("/content", 400, 300301, 1), refuse("/im/v1/messages/om_", 400, 230026, 1)}, 0, "post", 1},
		"streams no more, ever": {[]feishutest.Fault{refuse("/settings", 400, 300302, -1)}, 11 * time.Minute, "post", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api, bot := bubble(t)
				api.AddChat(private, "p2p")
				card, err := bot.Send(t.Context(), target(private), bot.Plan(platform.Outbound{To: target(private), Text: draft, Draft: true})[0])
				stdtest.Must(t, err)
				<-time.After(time.Second + x.wait)
				for _, f := range x.faults {
					api.Fail(f)
				}
				if tries := finish(t, bot, private, card.ID, whole); tries != x.tries {
					t.Errorf("%d tries, want %d", tries, x.tries)
				}
				sent, holding := api.Sent(private), 0
				for _, m := range sent {
					if m.Text == whole {
						if holding++; m.Kind != x.kind {
							t.Errorf("the text is in %+v, want %s", m, x.kind)
						}
					} else if name != "nor is it taken back" {
						t.Errorf("a piece is left: %+v", m)
					}
					if m.Streaming && name != "end is refused" {
						t.Errorf("it goes on streaming: %+v", m)
					}
				}
				if holding != 1 {
					t.Errorf("the text is there %d times: %+v", holding, sent)
				}
			})
		})
	}
}

// TestCardsOfAnApp checks that sixty concurrent chats, with new text every tenth of a second, never
// exceed the service's limit, and every text is complete in the end.
func TestCardsOfAnApp(t *testing.T) {
	const chats, looks = 60, 150
	synctest.Test(t, func(t *testing.T) {
		api, bot := bubble(t)
		var people sync.WaitGroup
		for i := range chats {
			chat := fmt.Sprint("oc_", i)
			api.AddChat(chat, "p2p")
			people.Go(func() {
				card, text := messages.Receipt{}, ""
				for n := range looks {
					text = strings.Repeat("word ", n+1)
					part := bot.Plan(platform.Outbound{To: target(chat), Text: text, Draft: true})[0]
					if card.ID == "" {
						card, _ = bot.Send(t.Context(), target(chat), part) // no capacity: later
					} else if err := bot.Edit(t.Context(), target(chat), card.ID, part); err != nil {
						t.Errorf("%s: %v", chat, err)
					}
					<-time.After(100 * time.Millisecond)
				}
				<-time.After(time.Duration(i) * 100 * time.Millisecond) // they end one after the other
				if card.ID == "" {
					return // there was no capacity in all that time
				}
				finish(t, bot, chat, card.ID, text+"end")
			})
		}
		people.Wait()
		limited, made := 0, 0
		for _, c := range api.Calls("") {
			if c.Code == 99991400 {
				limited++
			}
		}
		for i := range chats {
			for _, m := range api.Sent(fmt.Sprint("oc_", i)) {
				if made++; !strings.HasSuffix(m.Text, "end") || m.Streaming {
					t.Errorf("chat %d: %.40q, streaming %t", i, m.Text, m.Streaming)
				}
			}
		}
		if limited != 0 || made < chats/2 {
			t.Errorf("the service said %d times that it is too much, for %d cards", limited, made)
		}
		t.Logf("soak: row=cards chats=%d looks=%d calls=%d limited=%d", chats, looks, len(api.Calls("/content")), limited)
	})
}

// TestDraftsRest checks that an app that may not write cards does not try for every update, and
// that the log names the missing scope.
func TestDraftsRest(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Drafts = feishu.DraftsCard })
	b.api.Withhold(true, "cardkit:card:write")
	for i := range 20 {
		part := b.bot.Plan(platform.Outbound{To: target(private), Text: strings.Repeat("x", i+1), Draft: true})[0]
		if _, err := b.bot.Send(t.Context(), target(private), part); err == nil {
			t.Error("a card without the right to it")
		}
	}
	if n := len(b.api.Calls("/cardkit/")); n != 1 {
		t.Errorf("%d tries", n)
	}
	if text := b.log.String(); !strings.Contains(text, "cardkit:card:write") {
		t.Errorf("the scope is not named in %s", text)
	}
}

// TestTopics checks that in a group of topics, and in threads, all of an answer appears where the
// question is: parts, drafts and files; in a plain group it replies to the question.
func TestTopics(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Drafts = feishu.DraftsCard })
	b.api.AddChat("oc_topics", "topic_group")
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	for i, x := range []struct {
		chat   string
		more   map[string]any
		thread bool
	}{
		{"oc_topics", inGroup("one"), true},
		{"oc_topics", inGroup("two"), true},
		{group, map[string]any{"thread_id": "omt_thread", "content": `{"text":"@_user_1 x"}`, "mentions": inGroup("")["mentions"]}, true},
		{group, inGroup("plain"), false},
		{private, map[string]any{"thread_id": "omt_private", "content": `{"text":"x"}`}, true},
	} {
		id := b.api.Say(x.chat, owner, "", x.more)
		in := host.AwaitAccepted(t, i+1)[i]
		if !in.Gate.Open || (in.Chat.ThreadID != "") != x.thread || in.ChatKey != messages.NewChatKey("feishu", "", x.chat, 0) {
			t.Fatalf("%d: gate %+v, thread %q, key %s", i, in.Gate, in.Chat.ThreadID, in.ChatKey)
		}
		before := len(b.api.Sent(x.chat))
		long := strings.Repeat("A long line of words.\n\n", 400)
		outs := []platform.Outbound{
			{To: target(x.chat), ID: fmt.Sprint("m", i), Text: long, ReplyTo: id},
			{To: target(x.chat), Text: "a draft", ReplyTo: id, Draft: true},
		}
		parts := 0
		for _, out := range outs {
			for _, p := range b.bot.Plan(out) {
				parts++
				if _, err := b.bot.Send(t.Context(), target(x.chat), p); err != nil {
					t.Fatal(err)
				}
			}
		}
		sent := b.api.Sent(x.chat)[before:]
		if len(sent) != parts || parts < 4 {
			t.Fatalf("%d: %d messages of %d parts", i, len(sent), parts)
		}
		for _, m := range sent {
			if m.Parent != id || m.Thread != in.Chat.ThreadID {
				t.Errorf("%d: answers %q in thread %q, want %q in %q", i, m.Parent, m.Thread, id, in.Chat.ThreadID)
			}
		}
	}
	if n := len(b.api.Calls("/reply")); n == 0 || http.MethodPost != b.api.Calls("/reply")[0].Method {
		t.Errorf("%d replies", n)
	}
}

// TestCardOfAnEarlierRun checks that a card that cannot be found again after a restart does not remain next to the message
// that replaces it.
func TestCardOfAnEarlierRun(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Drafts = feishu.DraftsCard })
	card, err := b.bot.Send(t.Context(), target(private), b.bot.Plan(platform.Outbound{To: target(private), ID: "m/1", Text: "one", Draft: true})[0])
	stdtest.Must(t, err)
	b.api.Withhold(true, "cardkit:card:read")
	finish(t, botOf(t, b.api), private, card.ID, "one two three")
	if sent := b.api.Sent(private); len(sent) != 1 || sent[0].Kind != "post" || sent[0].Text != "one two three" {
		t.Errorf("%+v", sent)
	}
}
