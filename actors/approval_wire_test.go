package actors_test

import (
	"context"
	"fmt"
	"html"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// People of the tests over the wire.
const (
	owner    = 100
	stranger = 200
	place    = -5 // a group
)

// desk is a bot over the wire whose tool asks; only the owner approves.
type desk struct {
	*wire
	shell *shell
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{shell: newShell()}
	d.wire = newWire(t, func(o *telegram.Options) {
		o.Decide = func(ctx context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
			return d.w.Port.Decide(ctx, key, by, say)
		}
		o.Commands = []string{"stop", "approve", "deny", "approvals"}
	})
	d.tools = actortest.Tools(d.shell)
	d.approver = func(c approval.Claim) bool { return c.Person == strconv.Itoa(owner) }
	d.start()
	return d
}

// ask makes the bot ask in a chat, and gives the message with the buttons.
func (d *desk) ask(chat int64, command string) telegramtest.Sent {
	d.t.Helper()
	d.model.Add(modeltest.CallTools(sh("c"+strconv.Itoa(len(d.model.Requests())), command)))
	d.api.Say(chat, owner, "do it", nil)
	d.later(5 * time.Second)
	sent := d.api.Sent(chat)
	if len(sent) == 0 || len(sent[len(sent)-1].Buttons) != 1 {
		d.t.Fatalf("nothing asks in %d: %+v", chat, sent)
	}
	return sent[len(sent)-1]
}

func yesOf(m telegramtest.Sent) string { return m.Buttons[0][1] }
func noOf(m telegramtest.Sent) string  { return m.Buttons[0][3] }

func (d *desk) press(chat, from int64, m telegramtest.Sent, data string, more map[string]any) {
	d.t.Helper()
	d.api.Press(chat, from, m.ID, data, more)
	d.later(5 * time.Second)
}

// toasts are the answers to people who pressed a button.
func (d *desk) toasts() []string {
	var out []string
	for _, c := range d.api.Calls("answerCallbackQuery") {
		out = append(out, c.Params.Text("text"))
	}
	return out
}

func (d *desk) ran(want int64) {
	d.t.Helper()
	if got := d.shell.ran.Load(); got != want {
		d.t.Errorf("the shell ran %d times, want %d", got, want)
	}
}

func (d *desk) openIn(chat int64) int {
	return len((&approvals{World: d.w, t: d.t}).openIn(keyOf(chat)))
}

func TestButtons(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("late=%v/restart=%v", late, restart), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t)
					d.chat(owner)
					m := d.ask(owner, "git push")
					if late {
						d.api.Say(owner, owner, "hello", nil)
						d.later(time.Second)
					}
					if restart {
						d.again()
					}
					d.press(owner, owner, m, yesOf(m), nil)
					d.ran(1)
					for _, s := range d.api.Sent(owner) {
						if s.ID == m.ID && (len(s.Buttons) != 1 || s.Buttons[0][0] != "#1 ✅ Ann") {
							t.Errorf("in the place of the buttons: %q", s.Buttons)
						}
					}
					if got := d.toasts(); len(got) != 1 || got[0] != "Approved." {
						t.Errorf("told %q", got)
					}
				})
			})
		}
	}
}

// People who may not decide, and words that a person did not write themselves, decide nothing: the request stays open.
func TestAP5WhoMayNotDecide(t *testing.T) {
	say := func(chat, from int64, text string, more map[string]any) func(*desk, telegramtest.Sent) {
		return func(d *desk, _ telegramtest.Sent) { d.api.Say(chat, from, text, more) }
	}
	press := func(chat, from int64, more map[string]any) func(*desk, telegramtest.Sent) {
		return func(d *desk, m telegramtest.Sent) { d.press(chat, from, m, yesOf(m), more) }
	}
	bot := map[string]any{"from": map[string]any{"id": owner, "is_bot": true, "first_name": "Bot"}}
	forwarded := map[string]any{"forward_origin": map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "Ann"}}
	viaBot := map[string]any{"via_bot": map[string]any{"id": 9, "is_bot": true, "first_name": "Bot"}}
	anonymous := map[string]any{"sender_chat": map[string]any{"id": place, "type": "supergroup", "title": "Chat"}, "from": map[string]any{"id": 1087968824, "is_bot": true, "first_name": "Group"}}
	for _, tt := range []struct {
		name string
		in   int64
		do   func(*desk, telegramtest.Sent)
	}{
		{"words of a stranger", place, say(place, stranger, "yes", nil)},
		{"a command of a stranger", place, say(place, stranger, "/approve 1", nil)},
		{"all of a stranger", place, say(place, stranger, "/approve all", nil)},
		{"a grant of a stranger", place, say(place, stranger, "allow git push for 10 minutes", nil)},
		{"a button of a stranger", place, press(place, stranger, nil)},
		{"a button without anybody", place, press(place, owner, map[string]any{"from": nil})},
		{"a button of a bot", place, press(place, owner, bot)},
		{"words in another chat", owner, say(place, owner, "yes", nil)},
		{"a command in another chat", owner, say(place, owner, "/approve 1", nil)},
		{"a button in another chat", owner, func(d *desk, m telegramtest.Sent) {
			d.api.Say(place, owner, "hello", nil)
			d.later(time.Second)
			d.press(place, owner, d.api.Sent(place)[0], yesOf(m), nil)
		}},
		{"a bot", place, say(place, owner, "yes", bot)},
		{"a command of a bot", place, say(place, owner, "/approve 1", bot)},
		{"forwarded words", place, say(place, owner, "yes", forwarded)},
		{"a forwarded command", place, say(place, owner, "/approve 1", forwarded)},
		{"words through another bot", place, say(place, owner, "yes", viaBot)},
		{"an anonymous administrator", place, say(place, owner, "yes", anonymous)},
		{"an edit", place, func(d *desk, _ telegramtest.Sent) {
			id := d.api.Say(place, owner, "hello", nil)
			d.later(time.Second)
			d.api.Edit(place, owner, id, 1700000009, "yes")
		}},
		{"an edit that is a command", place, func(d *desk, _ telegramtest.Sent) {
			id := d.api.Say(place, owner, "hello", nil)
			d.later(time.Second)
			d.api.Edit(place, owner, id, 1700000009, "/approve 1")
		}},
		{"a photo with words", place, say(place, owner, "", map[string]any{"caption": "yes", "photo": []any{map[string]any{"file_id": "f", "file_unique_id": "u"}}})},
		{"a button for something else", owner, func(d *desk, m telegramtest.Sent) {
			d.press(owner, owner, m, yesOf(m)[:len(yesOf(m))-1]+"g", nil)
		}},
		{"a button of half a digest", owner, func(d *desk, m telegramtest.Sent) { d.press(owner, owner, m, yesOf(m)[:40], nil) }},
		{"a button for nothing", owner, func(d *desk, m telegramtest.Sent) { d.press(owner, owner, m, "y:nobody:"+strings.Repeat("0", 32), nil) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.chat(owner)
				d.chat(place)
				m := d.ask(tt.in, "git push")
				tt.do(d, m)
				d.later(10 * time.Second)
				d.ran(0)
				if n := d.openIn(tt.in); n != 1 {
					t.Errorf("%d requests are open", n)
				}
				d.press(tt.in, owner, m, yesOf(m), nil) // who may, still may
				d.ran(1)
			})
		})
	}
}

// A repeated decision counts once.
func TestAP6OneDecision(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *desk, m telegramtest.Sent)
		ran  int64
	}{
		{"the update comes again", func(d *desk, m telegramtest.Sent) {
			id := d.api.Press(owner, owner, m.ID, yesOf(m), nil)
			d.later(time.Second)
			d.api.Redeliver(id)
		}, 1},
		{"pressed twice at once", func(d *desk, m telegramtest.Sent) {
			d.api.Press(owner, owner, m.ID, yesOf(m), nil)
			d.api.Press(owner, owner, m.ID, yesOf(m), nil)
		}, 1},
		{"yes, then no", func(d *desk, m telegramtest.Sent) {
			d.press(owner, owner, m, yesOf(m), nil)
			d.press(owner, owner, m, noOf(m), nil)
		}, 1},
		{"no, then yes", func(d *desk, m telegramtest.Sent) {
			d.press(owner, owner, m, noOf(m), nil)
			d.press(owner, owner, m, yesOf(m), nil)
		}, 0},
		{"words, then the button", func(d *desk, m telegramtest.Sent) {
			d.api.Say(owner, owner, "yes", nil)
			d.later(time.Second)
			d.press(owner, owner, m, yesOf(m), nil)
		}, 1},
		{"the button, then words", func(d *desk, m telegramtest.Sent) {
			d.press(owner, owner, m, yesOf(m), nil)
			d.api.Say(owner, owner, "/approve 1", nil)
		}, 1},
		{"again after a restart", func(d *desk, m telegramtest.Sent) {
			d.press(owner, owner, m, yesOf(m), nil)
			d.again()
			d.press(owner, owner, m, yesOf(m), nil)
		}, 1},
		{"the words come again after a restart", func(d *desk, _ telegramtest.Sent) {
			d.api.Say(owner, owner, "yes", nil)
			d.later(time.Second)
			d.again()
			d.later(time.Second)
			d.api.Say(owner, owner, "yes", nil)
		}, 1},
		{"after it has expired", func(d *desk, m telegramtest.Sent) {
			d.later(31 * time.Minute)
			d.press(owner, owner, m, yesOf(m), nil)
			d.api.Say(owner, owner, "/approve 1", nil)
		}, 0},
		{"after it has expired while the host was down", func(d *desk, m telegramtest.Sent) {
			d.end()
			<-time.After(31 * time.Minute) // fake
			d.store.revive()
			d.start()
			d.press(owner, owner, m, yesOf(m), nil)
		}, 0},
		{"late", func(d *desk, m telegramtest.Sent) {
			d.api.Say(owner, owner, "hello", nil)
			d.later(time.Second)
			d.press(owner, owner, m, yesOf(m), nil)
			d.press(owner, owner, m, yesOf(m), nil)
		}, 1},
		{"after a stop", func(d *desk, m telegramtest.Sent) {
			d.model.Add(modeltest.CallTools(sh("other", "git pull")))
			d.press(owner, owner, m, noOf(m), nil)
			d.api.Say(owner, owner, "/stop", nil)
			d.later(time.Second)
			d.press(owner, owner, m, yesOf(m), nil)
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.chat(owner)
				m := d.ask(owner, "git push")
				tt.do(d, m)
				d.later(10 * time.Second)
				d.ran(tt.ran)
			})
		})
	}
}

// hostileCommands are texts that hide what they do, in various ways.
func hostileCommands() []string {
	list := []string{
		"git status", "ls -la /tmp", "echo \"a\" 'b' `c`", "echo ``` && rm -rf x", "echo ````\n````", "a\nb\nc", "a\tb", "echo a\rrm -rf x", "echo \x1b[2K\x1b[1Ahello",
		"rm\u202e gpj.exe", "echo \u2066a\u2069", "a\u200bb", "a\u00a0b", "a\ufeffb", "a\u2028b", "a\u2029b", "a\u0085b", "a\x00b", "a\x7fb", "\u3164", "a\u2800b",
		"<b>x</b>", "</code></pre><b>approved</b>", "&lt;b&gt;", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&#x202e;", "**bold**", "[link](http://x)", "![i](x)",
		"# title", "> quote", "~~~\nx\n~~~", "| a | b |", "\\u202e", "\\", "$(rm x)", "${X}", "a  b   c", "trailing  ", " leading", "\n\nleading lines", "trailing\n\n",
		"⟦U+202E⟧", "⟦", "echo 😀 中文 é", "e\u0301", "a\u034fb", "👩\u200d💻", "x\ufe0f", strings.Repeat("long ", 500), strings.Repeat("x", 6000), strings.Repeat("`", 40),
		"yes", "approved by Ann", "#2: May I use", "/approve 1", "@everyone", "http://example.org/<a>", "a\u180eb", "one line break\n",
	}
	for r := rune(0x200c); len(list) < 60; r++ {
		list = append(list, "a"+string(r)+"b")
	}
	return list
}

// People see exactly what runs: the whole command, with nothing hidden and no markup of its own.
func TestAP9TelegramShowsWhatRuns(t *testing.T) {
	list := hostileCommands()
	for i, command := range list {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.chat(owner)
				d.ask(owner, command)
				var shown strings.Builder
				for _, c := range d.api.Calls("sendMessage") {
					text := c.Params.Text("text")
					if c.Params.Text("parse_mode") == "HTML" {
						shown.WriteString(codeOf(text))
					} else {
						t.Errorf("sent without its markup: %q", text)
					}
				}
				if !shows(shown.String(), command) {
					t.Errorf("shown %q, and %q would run", shown.String(), command)
				}
			})
		})
	}
	if len(list) < 60 {
		t.Errorf("%d commands", len(list))
	}
}

// codeOf returns the text of the code blocks in Telegram's HTML.
func codeOf(text string) string {
	var out strings.Builder
	for {
		_, rest, found := strings.Cut(text, "<pre>")
		if !found {
			return out.String()
		}
		block, after, _ := strings.Cut(rest, "</pre>")
		out.WriteString(html.UnescapeString(block))
		text = after
	}
}

// shows reports whether what people see is the whole of an exact text. The one line break that
// ordinarily ends a text has no mark; further ones do.
func shows(shown, exact string) bool { return unmark(shown) == strings.TrimSuffix(exact, "\n") }

// unmark replaces marks by the characters that they represent.
func unmark(shown string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(shown, "⟦")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		mark, after, _ := strings.Cut(rest, "⟧")
		shown = after
		if n, err := strconv.ParseInt(strings.TrimPrefix(mark, "U+"), 16, 32); err == nil && strings.HasPrefix(mark, "U+") {
			out.WriteRune(rune(n))
		} else if b, err := strconv.ParseUint(mark, 0, 8); err == nil {
			out.WriteByte(byte(b))
		}
	}
}
