package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// A request shows its outcome and, if somebody else decided, who it was.
func TestPageSaysHowARequestEnded(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	denied, done := uimessage.ToolOutputDenied, uimessage.ToolOutputAvailable
	var parts []uimessage.Part
	var requests []string
	var want []string
	for i, c := range []struct {
		state         uimessage.ToolState
		answer, by, w string
	}{
		{denied, "denied", "", "denied"},
		{denied, "denied", "web-owner Ann", "denied"},
		{denied, "denied", "telegram-7 \u202eowner", "denied by owner"},
		{done, "approved", "telegram-7 Ada", "done, approved by Ada"},
		{done, "approved", "control-owner owner", "done"},
		{denied, "expired", "", "expired, not executed"},
		{denied, "withdrawn", "", "withdrawn, not executed"},
	} {
		id := fmt.Sprint("ap", i)
		call := asking(fmt.Sprint("c", i), id)
		call.State = c.state
		call.Approval.Approved = uimessage.Some(c.state == done)
		if c.state == done {
			call.Output = json.RawMessage(`1`)
		}
		parts = append(parts, call)
		by, name, _ := strings.Cut(c.by, " ")
		requests = append(requests, fmt.Sprintf(`{"id":%q,"n":%d,"answer":%q,"by":%q,"byName":%q}`, id, i, c.answer, by, name))
		want = append(want, c.w)
	}
	s.live.Chat(key).History = append(longChat(1), uimessage.Message{
		ID: "a", Role: uimessage.RoleAssistant, Parts: parts, Metadata: json.RawMessage(`{"approvals":{"requests":[` + strings.Join(requests, ",") + `]}}`),
	})
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.tool').length === 7`)
	if got := b.Eval(`[...document.querySelectorAll('.tool .state')].map((e) => e.textContent).join('|')`); got != strings.Join(want, "|") {
		t.Errorf("got  %s\nwant %s", got, strings.Join(want, "|"))
	}
	wantQuiet(t, b)
}

// Screen readers announce what an answer waits for or ended with, and which request a button
// belongs to; two requests have different ids.
func TestPageTellsScreenReaders(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"), asking("c2", "ap-c2"))
	b.open(s.URL + "/#/c/d")
	b.Until(`document.querySelectorAll('.asks').length === 2`)
	if got := b.Eval(`[...document.querySelectorAll('.decide button')].map((x) => x.textContent + ': ' + document.getElementById(x.getAttribute('aria-describedby')).textContent).join('|')`); got !=
		`Approve: May I use “rm” with these values?|Deny: May I use “rm” with these values?|Approve: May I use “rm” with these values?|Deny: May I use “rm” with these values?` {
		t.Errorf("the buttons are described as %s", got)
	}
	if got := b.Eval(`new Set([...document.querySelectorAll('.asks')].map((e) => e.id)).size`); got != "2" {
		t.Errorf("two requests have %s ids", got)
	}
	b.Eval(`(() => { location.hash = '#/c/c1'; })()`)
	for i, c := range []struct{ result, want string }{
		{"waiting", "Waiting for your decision."}, {"failed", "The answer failed."}, {"stopped", "Stopped."}, {"done", "The answer is complete."},
	} {
		b.say("go on")
		s.live.Next(t)
		s.live.Start(key, fmt.Sprint("r", i), fmt.Sprint("a", i))
		b.Until(`document.getElementById('state').textContent === 'The assistant is answering.'`)
		s.live.End(key, true, c.result)
		b.Until(fmt.Sprintf(`document.getElementById('state').textContent === %q`, c.want))
	}
	if got := b.Eval(`[document.getElementById('attach').title, document.getElementById('menu').title].join()`); got != "Add files,Chats" {
		t.Errorf("the signs are explained as %q", got)
	}
	wantQuiet(t, b)
}

// Redrawing or removing elements does not lose the focus.
func TestPageKeepsTheFocusOfWhatIsDrawnAnew(t *testing.T) {
	b := newBrowser(t)
	m := &managed{titles: map[messages.ChatKey]string{key: "roses", "web-chat-c2": "tulips"}}
	s := newServer(t, m.options)
	ask(s.live, asking("c1", "ap-c1"), asking("c2", "ap-c2"))
	b.open(s.URL + "/#/c/d")
	b.Until(`document.querySelectorAll('.asks').length === 2 && document.querySelectorAll('#chats a').length === 2`)
	b.Eval(`(() => { window.old = document.querySelectorAll('.decide .deny')[1]; window.old.focus(); })()`)
	s.live.Lock()
	c := s.live.Chat(decideKey)
	c.History = append(c.History, uimessage.Message{ID: "u9", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "elsewhere"}}})
	s.live.Unlock()
	s.live.DropWatchers(decideKey)
	b.Until(`window.dispatchEvent(new Event('online')) && document.querySelectorAll('.msg').length === 3 && !window.old.isConnected`)
	b.Until(`document.activeElement === document.querySelectorAll('.decide .deny')[1]`)

	b.Eval(`(() => { window.old = document.querySelector('#chats a[href$="c2"]'); window.old.focus(); document.getElementById('filter').dispatchEvent(new Event('input')); })()`)
	b.Until(`!window.old.isConnected && document.activeElement.textContent === 'tulips'`)

	b.Eval(`document.querySelector('.msg.user .acts button').click()`)
	b.Until(`!document.getElementById('mode').hidden`)
	b.Eval(`(() => { document.getElementById('unedit').focus(); document.getElementById('unedit').click(); })()`)
	b.Until(`document.getElementById('mode').hidden && document.activeElement.id === 'input'`)
	wantQuiet(t, b)
}

// A refused file is announced, and can be removed with the keyboard.
func TestPageRefusesAFileAloud(t *testing.T) {
	_, b := openPage(t)
	b.Eval(`(() => { const dt = new DataTransfer(); for (const n of ['a', 'b']) dt.items.add(new File(['x'], n)); const p = document.getElementById('pick'); p.files = dt.files; p.dispatchEvent(new Event('change')); })()`)
	b.Until(`document.querySelectorAll('#files li.error [role=alert]').length === 2 && document.querySelector('#files [role=alert]').textContent.trim().length > 5`)
	b.Eval(`(() => { const x = document.querySelector('#files button'); x.focus(); x.click(); })()`)
	b.Until(`document.querySelectorAll('#files li').length === 1 && document.activeElement === document.querySelector('#files button')`)
	b.Eval(`document.activeElement.click()`)
	b.Until(`document.querySelectorAll('#files li').length === 0 && document.activeElement.id === 'attach'`)
}

// A decision that did not reach the host is not shown as being sent.
func TestPageSaysThatADecisionWasNotSent(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
	b.open(s.URL + "/#/c/d")
	b.Until(`document.querySelectorAll('.asks').length === 1`)
	b.Eval(`(() => { window.fetch = () => Promise.reject(new TypeError('no network')); document.querySelector('.approve').click(); })()`)
	b.Until(`document.querySelector('.msg.assistant .note').textContent === 'not sent: The host could not be reached.' && document.querySelectorAll('.decide button').length === 2`)
	s.live.Lock()
	defer s.live.Unlock()
	if len(s.live.Decisions) > 0 {
		t.Errorf("the host heard %v", s.live.Decisions)
	}
}

// Long and foreign words remain readable, and within their place.
func TestPageHoldsLongWords(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, func(o *Options) {
		o.Chats = func(context.Context, int) ([]ChatSummary, error) {
			return []ChatSummary{
				{ID: "c1", Title: strings.Repeat("x", 300)},
				{ID: "words", Title: strings.Repeat("long title ", 30)},
				{ID: "rtl", Title: strings.Repeat("مرحبا ", 50)},
			}, nil
		}
	})
	s.live.Chat(key).History = append(longChat(1), uimessage.Message{ID: "a", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{
		uimessage.Text{Text: "|" + strings.Repeat(" header |", 14) + "\n|" + strings.Repeat("---|", 14) + "\n|" + strings.Repeat(" value |", 14) + "\n\nمرحبا!"},
	}})
	b.Window(390, 800)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 3 && document.querySelectorAll('#chats a').length === 3`)
	if got := b.Eval(`[...document.querySelectorAll('#chats a')].filter((a) => a.querySelector('.title').getBoundingClientRect().right > a.getBoundingClientRect().right || a.title.length < 280).length`); got != "0" {
		t.Errorf("%s chats show no whole title", got)
	}
	if got := b.Eval(`getComputedStyle(document.querySelector('#chats a[href$="rtl"] .title')).direction`); got != "rtl" {
		t.Errorf("an Arabic title is written %s", got)
	}
	if got := b.Eval(`(() => { const p = [...document.querySelectorAll('.text p')].at(-1), r = document.createRange(); r.selectNodeContents(p); return p.getBoundingClientRect().right - r.getBoundingClientRect().right < 2; })()`); got != "true" {
		t.Error("an Arabic paragraph does not begin on the right")
	}
	if got := b.Eval(`document.querySelector('th').getBoundingClientRect().height < 45 && document.querySelector('.wide-table').scrollWidth > 400`); got != "true" {
		t.Error("the words of a wide table are broken")
	}
	// The project's name fits in one line with all buttons, and refusals are shown completely.
	b.Eval(`(() => { document.getElementById('logout').hidden = false; })()`)
	if got := b.Eval(`document.querySelector('header').clientHeight < 60`); got != "true" {
		t.Error("the header has two lines on a phone")
	}
	for _, long := range []string{"", "Remove the files that were not taken, or choose others. Remove the files that were not taken, or choose others."} {
		b.Eval(`(() => { const l = document.getElementById('link'); l.textContent = %q; l.hidden = !l.textContent; })()`, long)
		if got := b.Eval(`(() => { const h = document.getElementById('project'), l = document.getElementById('link'); return [document.documentElement.scrollWidth, h.scrollWidth <= h.clientWidth, l.hidden || l.getBoundingClientRect().right <= 390].join(); })()`); got != "390,true,true" {
			t.Errorf("with %q in the header: %s", long, got)
		}
	}
	wantQuiet(t, b)
}

// The end of the chat remains visible when the message field grows.
func TestPageKeepsTheEndInSight(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	s.live.Chat(key).History = longChat(30)
	b.Window(1100, 600)
	b.open(s.URL + "/#/c/c1")
	b.Until(`document.querySelectorAll('.msg').length === 60`)
	gap := `(() => { const l = document.getElementById('log'); return l.scrollHeight - l.scrollTop - l.clientHeight; })()`
	b.Until(gap + ` < 2`)
	for _, height := range []int{400, 600} {
		b.Window(1100, height)
		b.Until(fmt.Sprintf(`innerHeight === %d && %s < 2`, height, gap))
	}
	b.Eval(`(() => { const i = document.getElementById('input'); i.value = 'a\n'.repeat(9); i.dispatchEvent(new Event('input')); })()`)
	b.Until(`document.getElementById('input').clientHeight > 150 && ` + gap + ` < 2`)
	b.Eval(`new Promise((done) => { document.getElementById('log').addEventListener('scroll', () => setTimeout(done), { once: true }); document.getElementById('log').scrollTop = 0; })`)
	b.Window(1100, 400)
	b.Until(`innerHeight === 400`)
	if got := b.Eval(`document.getElementById('log').scrollTop`); got != "0" {
		t.Errorf("who reads further up is taken to %s", got)
	}
}

// Text is readable in both color schemes, and nothing moves for people who prefer that.
func TestPageSuitsTheEyes(t *testing.T) {
	s, b := openPage(t)
	b.say("first")
	s.live.Next(t)
	s.live.Start(key, "r1", "a1")
	s.live.Chunk(key, uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "half "})
	b.Until(`document.querySelector('.live')`)
	b.say("second")
	b.Until(`document.querySelector('.waiting .body')`)
	for _, scheme := range []string{"light", "dark"} {
		b.Prefers("prefers-color-scheme", scheme)
		got := b.Eval(`(() => {
			const parse = (c) => c.match(/[\d.]+/g).map(Number);
			const light = (c) => { const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
			const back = (e) => { const c = parse(getComputedStyle(e).backgroundColor); return c.length === 3 || c[3] === 1 ? c.slice(0, 3) : back(e.parentElement); };
			const bad = [];
			for (const [q, pseudo] of [['#filter', '::placeholder'], ['#input', '::placeholder'], ['.waiting .body'], ['.waiting .note'], ['.who'], ['#stop'], ['#send'], ['#demo']]) {
				const e = document.querySelector(q), style = getComputedStyle(e, pseudo);
				const [a, b] = [light(parse(style.color).slice(0, 3)), light(back(e))];
				const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
				if (ratio < 4.5 || getComputedStyle(e).opacity < 1) bad.push(q + ' ' + ratio.toFixed(2));
			}
			return bad.join(', ');
		})()`)
		if got != "" {
			t.Errorf("%s: too little contrast: %s", scheme, got)
		}
	}
	b.Until(`document.getAnimations().length > 0`)
	b.Prefers("prefers-reduced-motion", "reduce")
	b.Window(390, 800)
	b.Eval(`document.getElementById('menu').click()`)
	if got := b.Eval(`document.getAnimations().length`); got != "0" {
		t.Errorf("%s things move", got)
	}
	wantQuiet(t, b)
}
