package telegram_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func richBench(t *testing.T) *bench {
	t.Helper()
	return newBench(t, func(o *telegram.Options) { o.RichMessages = true })
}

// planned sends the parts planned for a text, and returns the ids.
func planned(t *testing.T, b *bench, out platform.Outbound) []string {
	t.Helper()
	var ids []string
	for _, part := range b.bot.Plan(out) {
		id, err := b.bot.Send(t.Context(), out.To, part)
		if err != nil {
			t.Fatalf("Send: %v", err)
		}
		ids = append(ids, id.ID)
	}
	return ids
}

// texts returns the calls with a text, by method and text.
func (b *bench) texts() []string {
	var out []string
	for _, c := range b.api.Calls("") {
		if text := c.Params.Text("rich_message") + c.Params.Text("text"); text != "" {
			out = append(out, c.Method+" "+text)
		}
	}
	return out
}

func richHTML(html string) string {
	html = strings.NewReplacer(`"`, `\"`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(html)
	return `{"html":"` + html + `","skip_entity_detection":true}`
}

func TestRichOnTheWire(t *testing.T) {
	ask := messages.Ask{N: 1, ApprovalID: "ap1", Digest: "0123456789abcdef"}
	cases := []struct {
		name   string
		out    platform.Outbound
		method string
		want   telegramtest.Params
	}{
		{"markdown", platform.Outbound{To: target(private, 0), Text: "# A\n**b** @ann"}, "sendRichMessage", telegramtest.Params{
			"chat_id": "77", "rich_message": richHTML("<h1>A</h1><p><b>b</b> @ann</p>"),
		}},
		{"in a topic, as a reply", platform.Outbound{To: target(forum, 5), Text: "- x", ReplyTo: "12"}, "sendRichMessage", telegramtest.Params{
			"chat_id": "-10055", "message_thread_id": "5", "rich_message": richHTML("<ul><li>x</li></ul>"),
			"reply_parameters": `{"allow_sending_without_reply":true,"message_id":12}`,
		}},
		{"picture", platform.Outbound{To: target(private, 0), Text: "![p](https://x.y/p.png)"}, "sendRichMessage", telegramtest.Params{
			"chat_id": "77", "rich_message": richHTML(`<p><a href="https://x.y/p.png">p</a></p>`),
		}},
		{"nothing to format", platform.Outbound{To: target(private, 0), Text: "See /help"}, "sendMessage", telegramtest.Params{
			"chat_id": "77", "text": "See /help", "link_preview_options": `{"is_disabled":true}`,
		}},
		{"request", platform.Outbound{To: target(private, 0), Text: "Run `ls`?", Asks: []messages.Ask{ask}}, "sendMessage", telegramtest.Params{
			"chat_id": "77", "text": "Run <code>ls</code>?", "parse_mode": "HTML", "link_preview_options": `{"is_disabled":true}`,
			"reply_markup": `{"inline_keyboard":[[{"callback_data":"y:ap1:0123456789abcdef","text":"✅ Approve #1"},{"callback_data":"n:ap1:0123456789abcdef","text":"❌ Deny #1"}]]}`,
		}},
		{"text under way", platform.Outbound{To: target(private, 0), Text: "**b**", Draft: true}, "sendMessage", telegramtest.Params{
			"chat_id": "77", "text": "<b>b</b>", "parse_mode": "HTML", "link_preview_options": `{"is_disabled":true}`,
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := richBench(t)
			planned(t, b, c.out)
			calls := b.api.Calls("")
			if len(calls) != 1 || calls[0].Method != c.method {
				t.Fatalf("calls: %+v", calls)
			}
			got := telegramtest.Params{}
			for name := range calls[0].Params {
				got[name] = calls[0].Params.Text(name)
			}
			stdtest.Diff(t, "parameters", c.want, got)
		})
	}
}

// TestRichFailures checks that failures other than a refusal of the format have the same effect as
// for a text, and nothing else is sent.
func TestRichFailures(t *testing.T) {
	cases := []struct {
		name    string
		fault   telegramtest.Fault
		reason  platform.SendReason
		unknown bool
		shown   int
	}{
		{"rate", telegramtest.Fault{Kind: faketest.Refuse, Code: 429, Text: "Too Many Requests", RetryAfter: 7}, platform.SendRate, false, 0},
		{"broken", telegramtest.Fault{Kind: faketest.Refuse, Code: 500, Text: "Internal Server Error"}, platform.SendServer, false, 0},
		{"cut before", telegramtest.Fault{Kind: faketest.ResetBefore}, platform.SendNetwork, true, 0},
		{"cut after", telegramtest.Fault{Kind: faketest.ResetAfter}, platform.SendNetwork, true, 1},
		{"a page", telegramtest.Fault{Kind: faketest.Garbage, Code: 404}, platform.SendNetwork, true, 0},
		{"blocked", telegramtest.Fault{Kind: faketest.Refuse, Code: 403, Text: "Forbidden: bot was blocked by the user"}, platform.SendForbidden, false, 0},
		{"unknown chat", telegramtest.Fault{Kind: faketest.Refuse, Code: 400, Text: "Bad Request: chat not found"}, platform.SendNotFound, false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := richBench(t)
			c.fault.Method = "sendRichMessage"
			b.api.Fail(c.fault)
			to := target(private, 0)
			_, err := b.bot.Send(t.Context(), to, b.bot.Plan(platform.Outbound{To: to, Text: "**a**"})[0])
			e, ok := errors.AsType[*platform.Error](err)
			if !ok || e.Reason != c.reason || e.Unknown != c.unknown {
				t.Errorf("got %#v", err)
			}
			if len(b.texts()) != 1 || len(b.shown(to)) != c.shown {
				t.Errorf("sent %q, shown %q", b.texts(), b.shown(to))
			}
		})
	}
}

// TestRichFollowsAMove checks that a group that became a supergroup gets the rich message there.
func TestRichFollowsAMove(t *testing.T) {
	b := richBench(t)
	b.api.AddChat(telegramtest.Chat{ID: -100777, Type: "supergroup", Title: "Group"})
	b.api.Migrate(group, -100777)
	planned(t, b, platform.Outbound{To: target(group, 0), Text: "**a**"})
	if sent := b.api.Sent(-100777); len(sent) != 1 || !sent[0].Rich || len(b.texts()) != 2 {
		t.Errorf("sent %+v by %q", sent, b.texts())
	}
}

func TestRichEdits(t *testing.T) {
	to := target(private, 0)
	cases := []struct {
		name  string
		spoil func(*telegramtest.API)
		want  []string
		rich  bool
	}{
		{"taken", nil, []string{"editMessageText " + richHTML("<p><b>b</b></p>"), "editMessageText " + richHTML("<p><b>b</b></p>")}, true},
		{"not known", (*telegramtest.API).WithoutRich, []string{
			"editMessageText " + richHTML("<p><b>b</b></p>"), "editMessageText <b>b</b>", "editMessageText <b>b</b>",
		}, false},
		{"refused", func(a *telegramtest.API) {
			a.Fail(telegramtest.Fault{Method: "editMessageText", Kind: faketest.Refuse, Code: 400, Text: "Bad Request: MESSAGE_TYPE_INVALID"})
		}, []string{
			"editMessageText " + richHTML("<p><b>b</b></p>"), "editMessageText <b>b</b>", "editMessageText " + richHTML("<p><b>b</b></p>"),
		}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := richBench(t)
			id := planned(t, b, platform.Outbound{To: to, Text: "a", Draft: true})[0]
			if c.spoil != nil {
				c.spoil(b.api)
			}
			part := b.bot.Plan(platform.Outbound{To: to, Text: "**b**"})[0]
			for range 2 { // the second is unchanged, which is not an error
				stdtest.Must(t, b.bot.Edit(t.Context(), to, id, part))
			}
			stdtest.Diff(t, "", c.want, b.texts()[1:])
			sent := b.api.Sent(private)
			if len(sent) != 1 || sent[0].Text != "b" || sent[0].Rich != c.rich {
				t.Errorf("shown %+v", sent)
			}
		})
	}
}

// TestPI7RichMessages checks that a rich message contains no picture, mention or button written by
// a model, and an edit shows no preview.
func TestPI7RichMessages(t *testing.T) {
	words := []string{
		"**x** ![p](https://evil.example/p.png)", "**x**\n\n![](https://evil.example/p.png \"t\")", "**x** <img src=\"https://evil.example/p.png\"/>",
		"**x**\n\n<figure><img src=\"https://evil.example/p.png\"/></figure>", "**x** [ann](tg://user?id=7)", "**x** @ann #tag /stop",
		"**x** <a href=\"tg://user?id=7\">ann</a>", "**x** <tg-button type=\"callback_data\" data=\"a:1\">ok</tg-button>", "**x** ![e](tg://emoji?id=5)",
		"```\ncode\n```\n![](https://evil.example/p.png)", "**x** \\![p](https://evil.example/p.png)", "[![p](https://evil.example/p.png)](https://evil.example)",
		"| a |\n|---|\n| ![p](https://evil.example/p.png) <tg-map lat=\"1\"/> |",
	}
	b := richBench(t)
	to := target(private, 0)
	for _, w := range words {
		id := planned(t, b, platform.Outbound{To: to, Text: w})[0]
		stdtest.Must(t, b.bot.Edit(t.Context(), to, id, b.bot.Plan(platform.Outbound{To: to, Text: w + " **edited**"})[0]))
	}
	calls := b.api.Calls("")
	if len(calls) != 2*len(words) {
		t.Errorf("%d calls for %d texts: something was refused", len(calls), len(words))
	}
	for _, c := range calls {
		html := c.Params.Text("rich_message")
		for _, tag := range []string{"img", "video", "audio", "figure", "tg-", `a href=\"tg`} {
			if strings.Contains(html, `\u003c`+tag) {
				t.Errorf("%s holds %s: %s", c.Method, tag, html)
			}
		}
		if !strings.Contains(html, `"skip_entity_detection":true`) {
			t.Errorf("%s lets the service look for mentions: %s", c.Method, html)
		}
		if c.Method == "editMessageText" && c.Params.Text("link_preview_options") != `{"is_disabled":true}` {
			t.Errorf("an edit with previews: %v", c.Params)
		}
	}
}
