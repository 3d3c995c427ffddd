package web

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/browsertest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

func openPage(t *testing.T) (*server, *browser) {
	t.Helper()
	b := newBrowser(t)
	s := newServer(t, nil)
	b.open(s.URL + "/#/c/c1")
	return s, b
}

func wantQuiet(t *testing.T, b *browser) {
	t.Helper()
	if faults := b.Faults(); len(faults) > 0 {
		t.Errorf("the page reported: %s", strings.Join(faults, "\n"))
	}
}

const demoAnswer = `### Today

Here is **what I found**:

1. a numbered thing
2. another, with ` + "`code`" + `
   - nested

> quoted

` + "```go\nfunc main() {\n\tprintln(\"hi <b>\")\n}\n```" + `

| what | where |
|------|-------|
| a *cell* | another |

See [the docs](https://example.org/x) or https://example.com.`

func TestPageShowsAConversation(t *testing.T) {
	s, b := openPage(t)
	b.Shoot("empty")
	b.Until(`document.querySelectorAll('#chips button').length === 5`)
	b.say("what is new?")
	in := s.live.Next(t)
	if in.ChatKey != key || in.Text != "what is new?" {
		t.Errorf("got %q in %s", in.Text, in.ChatKey)
	}
	s.live.Start(key, "r1", "a1")
	s.live.Chunk(key, uistream.Start{Metadata: json.RawMessage(`{"demo":true}`)}, uistream.StartStep{},
		uistream.ToolInputStart{ToolCallID: "c", ToolName: "web_fetch"},
		uistream.ToolInputAvailable{ToolCallID: "c", ToolName: "web_fetch", Input: json.RawMessage(`{"url":"https://example.org"}`)},
		uistream.ToolOutputAvailable{ToolCallID: "c", Output: json.RawMessage(`"<h1>Example</h1>"`)}, uistream.FinishStep{},
		uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: demoAnswer[:40]})
	b.Until(`document.querySelector('.msg.live .stream').textContent.includes('Here is')`)
	b.Shoot("streaming")
	b.say("and tomorrow?")
	s.live.Next(t)
	b.Until(`document.querySelector('.msg.user.waiting .note').textContent === '' || document.querySelector('.msg.user.waiting .note').textContent.startsWith('waiting')`)
	b.Shoot("waiting")
	s.live.Chunk(key, uistream.TextDelta{ID: "t", Delta: demoAnswer[40:]}, uistream.TextEnd{ID: "t"}, uistream.FinishStep{})
	s.live.End(key, false, "")
	s.live.Start(key, "r1", "a2")
	b.Until(`[...document.querySelectorAll('.msg.user .note')].at(-1).textContent === 'joined the answer in progress'`)
	s.live.Say(key, "Tomorrow too.")
	s.live.End(key, true, "done")
	b.Until(`document.getElementById('stop').hidden && !document.querySelector('.live')`)
	order := b.Eval(`[...document.querySelectorAll('.msg')].map((m) => m.querySelector('.body').innerText.slice(0, 9).trim()).join('|')`)
	if want := "what is n|web_fetch|and tomor|Tomorrow"; !strings.HasPrefix(order, "what is n|") || !strings.HasSuffix(order, "|and tomor|Tomorrow") {
		t.Errorf("got order %q, want like %q", order, want)
	}
	structure := b.Eval(`['h5', 'strong', 'ol > li > ul > li', 'blockquote', 'pre > code', 'td > em', 'th', 'a[href="https://example.org/x"]', 'a[href="https://example.com/"]'].filter((q) => !document.querySelector('.text ' + q)).join()`)
	if structure != "" {
		t.Errorf("the finished text lacks %s", structure)
	}
	b.Shoot("finished")
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 780, "deviceScaleFactor": 1, "mobile": true}, nil)
	b.Shoot("phone-dark")
	if got := b.Eval(`document.documentElement.scrollWidth <= 390`); got != "true" {
		t.Error("the page is wider than a phone")
	}
	wantQuiet(t, b)
}

func TestPageComesBack(t *testing.T) {
	s, b := openPage(t)
	b.say("first")
	s.live.Next(t)
	s.live.Start(key, "r1", "a1")
	s.live.Chunk(key, uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "half "})
	b.Until(`document.querySelector('.live .stream').textContent === 'half '`)
	b.Call("Page.reload", nil, nil)
	b.Until(`document.querySelector('.live .stream').textContent === 'half '`)
	s.live.DropWatchers(key) // the connection ends; the page reconnects by itself
	s.live.Chunk(key, uistream.TextDelta{ID: "t", Delta: "and whole"}, uistream.TextEnd{ID: "t"})
	b.Until(`document.querySelector('.msg.assistant .body').innerText.trim() === 'half and whole'`)
	b.Eval(`document.getElementById('stop').click()`)
	b.Until(`document.querySelector('.msg.assistant .note').textContent === 'Stopped.'`)
	if !slices.Equal(s.live.Stops, []bool{false}) {
		t.Errorf("got stops %v", s.live.Stops)
	}
	s.live.Lock()
	s.live.OnAccept = s.live.Echo
	s.live.Unlock()
	b.Eval(`[...document.querySelectorAll('.msg.assistant .acts button')].find((x) => x.textContent === 'Answer again').click()`)
	b.Until(`document.querySelector('.msg.assistant .body').innerText.trim() === 'You said: first'`)
	b.Eval(`document.querySelector('.msg.user .acts button').click()`)
	b.say("better words")
	b.Until(`document.querySelectorAll('.msg').length === 2 && document.querySelector('.msg.assistant .body').innerText.trim() === 'You said: better words'`)
	wantQuiet(t, b)
}

// What a model thinks is collapsed, live and when the page has been loaded again, and is not copied with the answer.
func TestPageFoldsThinking(t *testing.T) {
	s, b := openPage(t)
	b.say("hi")
	s.live.Next(t)
	s.live.Start(key, "r1", "a1")
	s.live.Chunk(key, uistream.StartStep{}, uistream.ReasoningStart{ID: "r"}, uistream.ReasoningDelta{ID: "r", Delta: "a secret plan"})
	const folded = `[...document.querySelectorAll('details.chip')].some((d) => !d.open && d.textContent.includes('a secret plan')) && !document.body.innerText.includes('secret')`
	b.Until(folded)
	s.live.Chunk(key, uistream.ReasoningEnd{ID: "r"}, uistream.FinishStep{})
	s.live.Say(key, "The answer.")
	s.live.End(key, true, "done")
	b.Until(`!document.querySelector('.live') && document.body.innerText.includes('The answer.')`)
	if got := b.Eval(folded); got != "true" {
		t.Error("the thinking is open after the answer")
	}
	b.Call("Page.reload", nil, nil)
	b.Until(`document.body?.innerText.includes('The answer.') && ` + folded)
	wantQuiet(t, b)
}

// WE10: whatever a message says, nothing of it runs or is fetched.
func TestWE10PageKeepsPayloadsInert(t *testing.T) {
	s, b := openPage(t)
	payloads := browsertest.Payloads()
	for _, p := range payloads {
		parts := []uimessage.Part{uimessage.Text{Text: p}}
		s.live.Lock()
		c := s.live.Chat("web-chat-bad")
		c.History = append(c.History,
			uimessage.Message{ID: request.NewID("u"), Role: uimessage.RoleUser, Parts: parts},
			uimessage.Message{ID: request.NewID("a"), Role: uimessage.RoleAssistant, Parts: append(parts,
				uimessage.Reasoning{Text: p}, uimessage.SourceURL{SourceID: "1", URL: p, Title: uimessage.Some(p)},
				uimessage.Tool{ToolCallID: "c", Name: "x" + p, State: uimessage.ToolOutputError, Input: quote(p), ErrorText: uimessage.Some(p)},
				uimessage.File{MediaType: p, URL: p, Filename: uimessage.Some(p)}), Metadata: json.RawMessage(`{"username":` + string(quote(p)) + `}`)})
		s.live.Unlock()
	}
	b.Eval(`(() => { window.hit = 0; location.hash = '#/c/bad'; })()`)
	b.Until(`document.querySelectorAll('.msg').length === ` + string(quote(len(payloads)*2)))
	bad := messages.ChatKey("web-chat-bad")
	s.live.Start(bad, "r1", "a-live")
	for i, p := range payloads {
		id := request.NewID("t")
		s.live.Chunk(bad, uistream.TextStart{ID: id}, uistream.TextDelta{ID: id, Delta: p})
		if i%2 == 0 {
			s.live.Chunk(bad, uistream.TextEnd{ID: id})
		}
	}
	s.live.Chunk(bad, uistream.Error{ErrorText: payloads[0]})
	b.Until(`document.querySelector('.live .error')`)
	s.live.End(bad, true, "done")
	b.Until(`!document.querySelector('.live')`)
	b.Eval(`(() => { for (const d of document.querySelectorAll('details')) d.open = true; for (const e of document.querySelectorAll('#messages *')) for (const n of ['mouseover', 'focus', 'error', 'load']) e.dispatchEvent(new Event(n)); })()`)
	if got := b.Eval(`window.hit + document.querySelectorAll('#messages :is(script, img, svg, iframe, object, embed, video, audio, style, link, form, input, base, meta, math)').length`); got != "0" {
		t.Errorf("%s payloads became elements or ran", got)
	}
	if got := b.Eval(`[...document.querySelectorAll('#messages *')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on') || /^\s*(javascript|data|vbscript):/i.test(a.value))).length`); got != "0" {
		t.Errorf("%s elements have dangerous attributes", got)
	}
	b.Shoot("payloads")
	wantQuiet(t, b)
}

func quote(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func TestPageLogsIn(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, withToken)
	b.Call("Page.navigate", map[string]any{"url": s.URL + "/"}, nil)
	b.Until(`document.querySelector('input[type=password]')`)
	b.Shoot("login")
	b.Eval(`(() => { document.querySelector('input').value = %q; document.querySelector('button').click(); })()`, testToken)
	b.Until(`document.getElementById('project')?.textContent === 'Test' && !document.getElementById('logout').hidden`)
	if got := b.Eval(`document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + location.href`); strings.Contains(got, testToken) || strings.Contains(got, "session=") {
		t.Errorf("scripts can read %q", got)
	}
}
