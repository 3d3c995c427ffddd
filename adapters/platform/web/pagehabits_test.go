package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func TestPageMenuOnAPhone(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	b.Phone()
	s.live.Chat(key).History = longChat(1)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 2`)
	for _, way := range []string{
		`document.elementFromPoint(380, 400).click()`,
		`document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))`,
		`document.querySelector('#chats a[aria-current]').click()`,
		`document.getElementById('menu').click()`,
	} {
		b.Eval(`document.getElementById('menu').click()`)
		b.Until(`document.body.classList.contains('side') && document.activeElement.id === 'new'`)
		b.Eval(`(() => { if (!document.querySelector('#chats a')) { const a = document.createElement('a'); a.href = location.hash; a.setAttribute('aria-current', 'page'); document.getElementById('chats').append(a); } })()`)
		b.Eval("%s", way)
		b.Until(`!document.body.classList.contains('side') && document.getElementById('menu').getAttribute('aria-expanded') === 'false' && document.activeElement.id === 'menu'`)
	}
	wantQuiet(t, b)
}

// The enter key of an on-screen keyboard inserts a line break, because it has no other key for
// that.
func TestPageWritesLinesOnAPhone(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	b.Phone()
	b.open(s.URL + "/#/c/c1")
	if got := b.Eval(`document.activeElement.id`); got == "input" {
		t.Error("a chat that is opened brings up the keyboard")
	}
	b.say("one")
	b.Until(`document.getElementById('input').value === 'one\n'`)
	b.Eval(`document.getElementById('send').click()`)
	if in := s.live.Next(t); in.Text != "one" {
		t.Errorf("got %q", in.Text)
	}
}

func TestPageTakesAnyAddress(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	b.open(s.URL + "/#/c/%")
	b.Until(`location.hash.length > 20`)
	b.say("hello")
	if in := s.live.Next(t); in.Text != "hello" {
		t.Errorf("got %q", in.Text)
	}
	wantQuiet(t, b)
}

// Text that the host does not accept can be sent again.
func TestPageKeepsAnEditThatIsRefused(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	s.live.Chat(key).History = longChat(1)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 2`)
	b.Eval(`document.querySelector('.msg.user .acts button').click()`)
	s.live.Lock()
	s.live.Refuse(func(platform.Inbound) error { return platform.ErrUnavailable })
	s.live.Unlock()
	b.say("much better words")
	b.Until(`!document.getElementById('link').hidden`)
	b.Until(`document.getElementById('input').value === 'much better words' && !document.getElementById('mode').hidden`)
}

// Reconnecting does not scroll what somebody is reading.
func TestPageKeepsItsPlace(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	s.live.Chat(key).History = longChat(40)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 80 && document.getElementById('log').scrollTop > 1000`)
	b.Eval(`(() => { document.getElementById('log').scrollTop = 500; document.querySelector('.msg').marked = true; })()`)
	s.live.Watched(t, key)
	b.Eval(`(() => { setInterval(() => window.dispatchEvent(new Event('online')), 50); })()`) // reconnect without the usual pause
	s.live.DropWatchers(key)
	s.live.Watched(t, key)
	// What follows the view is shown.
	s.live.Lock()
	s.live.Chat(key).Send(platform.Frame{Kind: platform.FrameEvent, ChatKey: key, Event: platform.Event{Name: "compaction"}})
	s.live.Unlock()
	b.Until(`document.querySelector('.line')`)
	if got := b.Eval(`document.getElementById('log').scrollTop + ' ' + document.querySelector('.msg').marked`); got != "500 true" {
		t.Errorf("after the same view: got %s, want 500 true", got)
	}
	s.live.Lock()
	s.live.Chat(key).History = append(longChat(40), uimessage.Message{ID: "new", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "from elsewhere"}}})
	s.live.Unlock()
	s.live.DropWatchers(key)
	b.Until(`document.querySelectorAll('.msg').length === 81`)
	if got := b.Eval(`document.getElementById('log').scrollTop`); got != "500" {
		t.Errorf("after a longer view: got %s, want 500", got)
	}
	wantQuiet(t, b)
}

// When somebody cuts and regenerates in one window, the others follow.
func TestPageFollowsAnEditElsewhere(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	s.live.Seed(key, "u1", "a1", "u2", "a2")
	s.live.OnAccept = s.live.Echo
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 4`)
	s.do(t, "POST", "/api/chat", `{"id":"c1","messageId":"u1","message":{"id":"u1","role":"user","parts":[{"type":"text","text":"better"}]}}`, "Prefer", "respond-async").close()
	b.Until(`[...document.querySelectorAll('.msg .body')].map((e) => e.innerText.trim()).join('|') === 'better|You said: better'`)
	s.do(t, "POST", "/api/chat", `{"id":"c1","trigger":"regenerate-message","messages":[]}`, "Prefer", "respond-async").close()
	b.Until(`[...document.querySelectorAll('.msg .body')].map((e) => e.innerText.trim()).join('|') === 'better|You said: better'`)
	wantQuiet(t, b)
}

// A command and its answer do not prevent another answer, and keep their place when it arrives.
func TestPageAnswersAgainAfterACommand(t *testing.T) {
	for name, again := range map[string]func(s *server, b *browser){
		"here": func(_ *server, b *browser) {
			b.Eval(`[...document.querySelectorAll('.msg .acts button')].find((x) => x.textContent === 'Answer again')?.click()`)
		},
		"in another window": func(s *server, _ *browser) {
			s.do(t, "POST", "/api/chat", `{"id":"c1","trigger":"regenerate-message","messages":[]}`, "Prefer", "respond-async").close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t)
			s := newServer(t, withCommands)
			s.live.Seed(key, "u1", "a1", "u2", "a2")
			b.open(s.URL + "/#/c/c1")
			b.Until(`document.querySelectorAll('.msg').length === 4`)
			b.say("/status")
			b.Until(`document.querySelectorAll('.msg').length === 6`)
			s.live.Next(t)
			s.live.OnAccept = s.live.Echo
			again(s, b)
			b.Until(`[...document.querySelectorAll('.msg .body')].map((e) => e.innerText.trim()).join('|') === 'text of u1|text of a1|text of u2|/status|status !|You said: text of u2'`)
			wantQuiet(t, b)
		})
	}
}

// A pending turn is shown as such, also to later readers.
func TestPageShowsWhatWaits(t *testing.T) {
	s, b := openPage(t)
	b.say("first")
	s.live.Next(t)
	s.live.Start(key, "r1", "a1")
	b.say("second")
	s.live.Next(t)
	b.Call("Page.reload", nil, nil)
	b.Until(`document.querySelector('.msg.user.waiting .body')?.textContent === 'second' && document.querySelector('.live')`)
	s.live.End(key, true, "done")
	b.Until(`!document.querySelector('.live')`)
	if got := b.Eval(`document.getElementById('stop').hidden`); got != "false" {
		t.Error("the page takes the chat for idle although a turn waits")
	}
	s.live.Start(key, "r2", "a2")
	s.live.Say(key, "Both.")
	s.live.End(key, true, "done")
	b.Until(`document.getElementById('stop').hidden && document.querySelectorAll('.msg').length === 4 && !document.querySelector('.waiting')`)
	wantQuiet(t, b)
}

// The host's answer to a message may come late, when the message is drawn anew or another chat is shown. It changes
// nothing then.
func TestPageHearsLateThatAMessageArrived(t *testing.T) {
	elsewhere := func(_ *server, b *browser) {
		b.Eval(`(() => { location.hash = '#/c/c2'; })()`)
		b.Until(`document.querySelector('.msg').innerText.includes('text of u9')`)
	}
	for _, tt := range []struct {
		name, text string
		meanwhile  func(s *server, b *browser)
		messages   string
	}{
		{"the message is answered in a new view", "first", func(s *server, b *browser) {
			s.live.DropWatchers(key)
			s.live.Start(key, "r1", "a1")
			s.live.Say(key, "Done.")
			s.live.End(key, true, "done")
			b.Until(`window.dispatchEvent(new Event('online')) && document.querySelectorAll('.msg').length === 2`)
		}, "2"},
		{"the message is answered in the stream", "first", func(s *server, b *browser) {
			s.live.Start(key, "r1", "a1")
			s.live.Say(key, "Done.")
			s.live.End(key, true, "done")
			b.Until(`document.querySelectorAll('.msg').length === 2 && !document.querySelector('.live')`)
		}, "2"},
		{"a command, and an answer ends", "/status", func(s *server, b *browser) {
			s.live.Start(key, "r1", "a1")
			s.live.End(key, true, "done")
			b.Until(`document.querySelectorAll('.msg').length === 2 && !document.querySelector('.live')`)
		}, "3"},
		{"another chat is shown", "first", elsewhere, "1"},
		{"a command, and another chat is shown", "/status", elsewhere, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBrowser(t)
			s := newServer(t, withCommands)
			s.live.Seed("web-chat-c2", "u9")
			b.open(s.URL + "/#/c/c1")
			s.live.Watched(t, key)
			b.Eval(`(() => {
				const usual = window.fetch;
				window.held = new Promise((done) => { window.release = done; });
				window.fetch = async (path, options) => {
					const res = await usual(path, options);
					if (options?.method === 'POST') await window.held;
					return res;
				};
			})()`)
			b.say(tt.text)
			s.live.Next(t)
			tt.meanwhile(s, b)
			b.Eval(`window.release()`)
			b.Until(`document.querySelectorAll('.msg').length === ` + tt.messages)
			b.Eval(`new Promise((done) => setTimeout(done, 100))`)
			if got := b.Eval(`document.getElementById('stop').hidden + ' ' + document.querySelectorAll('.msg').length`); got != "true "+tt.messages {
				t.Errorf("got %s, want true %s: stop is hidden, and the messages", got, tt.messages)
			}
			wantQuiet(t, b)
		})
	}
}

// Messages arrive in the order in which they were written, also if the network delays the first one.
func TestPageKeepsTheOrderOfMessages(t *testing.T) {
	s, b := openPage(t)
	b.Eval(`(() => {
		const usual = window.fetch;
		let slow = 300;
		window.fetch = async (path, options) => {
			if (options?.method === 'POST') await new Promise((done) => { setTimeout(done, slow); slow = 0; });
			return usual(path, options);
		};
	})()`)
	b.say("first")
	b.say("second")
	if one, two := s.live.Next(t).Text, s.live.Next(t).Text; one != "first" || two != "second" {
		t.Errorf("accepted %q, then %q", one, two)
	}
}

// A page whose stream has ended, for example because its chat was passivated, continues at once when somebody writes.
func TestPageReadsOnWhenSomebodyWrites(t *testing.T) {
	s, b := openPage(t)
	s.live.Watched(t, key)
	s.live.DropWatchers(key)
	b.Eval(`new Promise((done) => setTimeout(done, 100))`)
	b.say("hello")
	s.live.Next(t)
	s.live.Watched(t, key)
	s.live.Start(key, "r1", "a1")
	s.live.Say(key, "Hi.")
	s.live.End(key, true, "done")
	b.Until(`document.querySelector('.msg.assistant')?.innerText.includes('Hi.') && document.getElementById('stop').hidden`)
	wantQuiet(t, b)
}

// A host that is silent for longer than its heartbeats counts as gone, although the connection
// seems to be open.
func TestPageNoticesASilentHost(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, func(o *Options) { o.Heartbeat = time.Hour })
	b.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{
		"source": `{ const usual = setTimeout; window.setTimeout = (f, ms, ...more) => usual(f, ms > 30000 ? 200 : ms, ...more); }`,
	}, nil)
	b.open(s.URL + "/#/c/c1")
	for range 3 {
		s.live.Watched(t, key)
	}
}

// forbidding refuses every decision.
type forbidding struct{ platform.Live }

func (forbidding) Decide(_ context.Context, _ messages.ChatKey, _ platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	return []messages.DecisionOutcome{{ApprovalID: say[0].ApprovalID, Is: messages.DecisionForbidden}}, nil
}

// A request that the person may not decide stays open on the page, which says so.
func TestPageKeepsARequestThatItMayNotDecide(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, func(o *Options) { o.Live = forbidding{o.Live} })
	ask(s.live, asking("c1", "ap-c1"))
	b.open(s.URL + "/#/c/d")
	b.Until(`document.querySelectorAll('.asks').length === 1`)
	b.Eval(`document.querySelector('.decide .approve').click()`)
	b.Until(`document.querySelector('.msg.assistant .note').textContent === 'You may not decide this.'`)
	if got := b.Eval(`document.querySelectorAll('.asks').length + ' ' + document.querySelectorAll('.decide button').length`); got != "1 2" {
		t.Errorf("got %s, want the request with its two buttons", got)
	}
}

// Keyboard focus never remains on removed elements.
func TestPageKeepsTheFocus(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
	b.open(s.URL + "/#/c/d")
	b.Until(`document.querySelectorAll('.asks').length === 1`)
	b.Eval(`(() => { const x = document.querySelector('.decide .approve'); x.focus(); x.click(); })()`)
	b.Until(`document.activeElement.id === 'input'`)
	b.Eval(`(() => { location.hash = '#/c/c1'; })()`)
	b.say("go on")
	s.live.Next(t)
	s.live.Start(key, "r1", "a1")
	b.Until(`!document.getElementById('stop').hidden`)
	b.Eval(`document.getElementById('stop').focus()`)
	s.live.End(key, true, "stopped")
	b.Until(`document.getElementById('stop').hidden && document.activeElement.id === 'input'`)
}

func TestPageFormats(t *testing.T) {
	_, b := openPage(t)
	for _, tt := range []struct{ name, text, want string }{
		{"code in a list", "1. Run:\n   ```sh\n   make\n     all\n   ```\n2. Look", `<ol start="1"><li>Run:<pre data-name="sh"><code>make\n  all</code></pre></li><li>Look</li></ol>`},
		{"code below a bullet", "- a\n  ```\n  x\n  ```\n- b", `<ul><li>a<pre><code>x</code></pre></li><li>b</li></ul>`},
		{"code that never ends", "- a\n  ```\n  x", `<ul><li>a<pre><code>x</code></pre></li></ul>`},
		{"code of its own", "```go\n\tx\n```\nafter", "<pre data-name=\"go\"><code>\tx</code></pre><p>after</p>"},
		{"a rule", "a\n\n---\n\nb\n\n* * *", `<p>a</p><hr><p>b</p><hr>`},
		{"code within a line", "```make all```\n\n- a\n  ```b```\nc", "<p><code>make all</code></p><ul><li>a\n<code>b</code></li></ul><p>c</p>"},
		{"bars in a table", "|a|b|\n|---|---|\n|`x \\| y`|z\\||", `<div class="wide-table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>x | y</code></td><td>z|</td></tr></tbody></table></div>`},
		{"no rule", "--\n\n- - x", `<p>--</p><ul><li>- x</li></ul>`},
	} {
		got := b.Eval(`import('/static/format.js').then(({ format }) => { const box = document.createElement('div'); box.append(format(%q)); for (const e of box.querySelectorAll('.code')) { e.lastChild.remove(); e.replaceWith(e.firstChild); } for (const e of box.querySelectorAll('[tabindex]')) e.removeAttribute('tabindex'); return box.innerHTML; })`, tt.text)
		if want := strings.ReplaceAll(tt.want, `\n`, "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
	// The bytes of the code are copied, and the button confirms it.
	b.Eval(`import('/static/format.js').then(({ format }) => { document.querySelector('main').append(format('` + "```\\na  b\\n\\n c\\n```" + `')); Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (s) => { window.copied = s; } } }); document.querySelector('.code button').click(); })`)
	b.Until(`window.copied === 'a  b\n\n c' && document.querySelector('.code button').textContent === 'Copied'`)
	// Pages without TLS have no clipboard API: the fallback may fail.
	b.Eval(`(() => { Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined }); document.execCommand = () => { window.selected = document.activeElement.value; return false; }; document.querySelector('.code button').click(); })()`)
	b.Until(`window.selected === 'a  b\n\n c' && document.querySelector('.code button').textContent === 'Not copied' && !document.querySelector('textarea.hidden')`)
	wantQuiet(t, b)
}

// longChat is a history of n questions with their answers.
func longChat(n int) []uimessage.Message {
	var out []uimessage.Message
	for i := range n {
		out = append(out,
			uimessage.Message{ID: fmt.Sprintf("u%d", i), Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "why?"}}},
			uimessage.Message{ID: fmt.Sprintf("a%d", i), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "because of this,\n\nthat,\n\nand more"}}})
	}
	return out
}

// A message that the chat does not take says why, in the reader's language.
func TestPageSaysWhyAMessageWasDeclined(t *testing.T) {
	for language, words := range map[string]map[string]string{
		"en": {"lane_full": "Too many messages are waiting", "parked": "could not be handled", "other": "was not taken"},
		"zh": {"lane_full": "等待回答的消息太多", "parked": "这条消息无法处理", "other": "这条消息没有被接收"},
	} {
		b := newBrowser(t)
		b.Call("Emulation.setUserAgentOverride", map[string]any{"userAgent": "test", "acceptLanguage": language}, nil)
		s := newServer(t, nil)
		b.open(s.URL + "/#/c/c1")
		for reason, want := range words {
			s.live.Lock()
			s.live.Decline = reason
			s.live.Unlock()
			b.say("hello, " + reason)
			b.Until(`[...document.querySelectorAll('.msg')].at(-1)?.querySelector('.note button')`)
			if got := b.Eval(`[...document.querySelectorAll('.msg')].at(-1).querySelector('.note').textContent`); !strings.Contains(got, want) {
				t.Errorf("%s in %s: the page says %s, want %s", reason, language, got, want)
			}
		}
	}
}

// An edit and another answer cut the history first. If the host is lost before it takes the turn, the page still has it,
// and what is sent again is answered once.
func TestPageKeepsATurnThatWasCut(t *testing.T) {
	const edit, again = "Edit", "Answer again"
	for name, tt := range map[string]struct {
		turns      []string
		press      string
		text, keep string
	}{
		"an edit":                        {[]string{"u1", "a1", "u2", "a2"}, edit, "better", "text of u1|text of a1|"},
		"another answer":                 {[]string{"u1", "a1", "u2", "a2"}, again, "text of u2", "text of u1|text of a1|"},
		"an edit of the first turn":      {[]string{"u1", "a1"}, edit, "better", ""},
		"another answer to a first turn": {[]string{"u1", "a1"}, again, "text of u1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t)
			s := newServer(t, nil)
			s.live.Seed(key, tt.turns...)
			s.live.Refuse(func(platform.Inbound) error { return platform.ErrUnavailable })
			b.open(s.URL + "/#/c/c1")
			b.Until(fmt.Sprintf(`document.querySelectorAll('.msg').length === %d`, len(tt.turns)))
			b.Eval(`[...document.querySelectorAll('.msg .acts button')].findLast((x) => x.textContent === %q).click()`, tt.press)
			if tt.press == edit {
				b.say(tt.text)
			}
			b.Until(`[...document.querySelectorAll('.msg .note button')].length === 1`)
			s.CloseClientConnections() // the reader hears from the next process what is left
			b.Until(fmt.Sprintf(`document.querySelectorAll('.msg').length === %d && document.querySelector('.msg .note button')`, len(tt.turns)-1))
			s.live.Lock()
			s.live.Refuse(nil)
			s.live.OnAccept = s.live.Echo
			s.live.Unlock()
			b.Eval(`(() => { const f = window.fetch; window.fetch = async (...a) => { // the answer comes before the response
				const r = await f(...a);
				if (a[1]?.method === 'POST') await new Promise((done) => { setTimeout(done, 300); });
				return r;
			}; })()`)
			b.Eval(`document.querySelector('.msg .note button').click()`)
			b.Until(fmt.Sprintf(`[...document.querySelectorAll('.msg .body')].map((e) => e.innerText.trim()).join('|') === %q`, tt.keep+tt.text+"|You said: "+tt.text))
			b.Until(`document.getElementById('input').value === ''`)
			if in := s.live.Next(t); in.Text != tt.text || in.TurnID != tt.turns[len(tt.turns)-2] || s.live.Unread() > 0 {
				t.Errorf("accepted %+v, and %d others", in, s.live.Unread())
			}
		})
	}
}

// Chats that are not among the newest can be reached from the page, also without a pointer.
func TestPageReachesOlderChats(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, func(o *Options) {
		o.Chats = func(_ context.Context, most int) ([]ChatSummary, error) {
			var out []ChatSummary
			for n := range min(120, most) {
				out = append(out, ChatSummary{ID: fmt.Sprintf("n%d", n), Title: fmt.Sprintf("Chat number %d.", n)})
			}
			return out, nil
		}
	})
	b.open(s.URL + "/#/c/c1")
	for _, n := range []int{50, 100} {
		b.Until(fmt.Sprintf(`document.querySelectorAll('#chats a').length === %d`, n))
		b.Eval(`document.getElementById('older').focus()`)
		b.Press("Enter")
		b.Until(fmt.Sprintf(`document.activeElement.textContent === 'Chat number %d.'`, n))
	}
	b.Until(`document.querySelectorAll('#chats a').length === 120 && document.getElementById('older').hidden`)
	wantQuiet(t, b)
}

// A call that did not ask has its title in the reader's language too.
func TestPageNamesToolsInChinese(t *testing.T) {
	b := newBrowser(t)
	b.Call("Emulation.setUserAgentOverride", map[string]any{"userAgent": "test", "acceptLanguage": "zh-CN"}, nil)
	s := newServer(t, nil)
	call := func(name, title string) uimessage.Part {
		return uimessage.Tool{ToolCallID: name, Name: name, Title: uimessage.Some(title), State: uimessage.ToolOutputAvailable, Input: []byte("{}"), Output: []byte("1")}
	}
	s.live.Chat(key).History = []uimessage.Message{
		{ID: "u", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "look"}}},
		{ID: "a", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{call("list_files", "List files"), call("seeds_find", "Find a seed")}},
	}
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('details.tool').length === 2`)
	if got := b.Eval(`[...document.querySelectorAll('details.tool b')].map((e) => e.textContent).join()`); got != "列出文件,Find a seed" {
		t.Errorf("the tools are called %s", got)
	}
}

// A message sent from another tab of the browser appears at once, also while an answer is in progress.
func TestPageHearsOtherTabs(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	c := s.live.Chat(key)
	c.History = longChat(1)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 2`)
	b.Eval(`(() => { window.other = new BroadcastChannel('sma'); window.heard = []; other.onmessage = (e) => heard.push(e.data); })()`)
	b.say("from here")
	b.Until(`heard.join() === 'c1'`)
	s.live.Next(t)
	s.live.Lock()
	c.Waiting = append(c.Waiting, uimessage.Message{ID: "w", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "from the other tab"}}})
	s.live.Unlock()
	b.Eval(`other.postMessage('c1')`)
	b.Until(`[...document.querySelectorAll('.msg.waiting')].some((e) => e.innerText.includes('from the other tab'))`)
	wantQuiet(t, b)
}
