package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/browsertest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// consoleWorld is a host with a bot on a fake Telegram, its scripted model, and a browser for its console.
type consoleWorld struct {
	*world
	api     *telegramtest.API
	browser *browsertest.Browser
}

const viewerToken = "a-token-that-only-shows-counts"

// injected is a text of everything that a person, a model or the project can name.
const injected = `<img src=x onerror=hit++>`

func newConsoleWorld(t *testing.T) *consoleWorld {
	t.Helper()
	c := &consoleWorld{browser: browsertest.Start(t), api: telegramtest.NewAPI(t)}
	for id := range int64(9) {
		c.api.AddChat(telegramtest.Chat{ID: id + 1, Type: "private"})
	}
	web := fmt.Sprintf(`, "viewerToken": %q}, "telegram": {
		"botToken": %q, "baseUrl": %q, "access": "open", "rateLimit": "off", "egress": "direct", "drafts": "off"`, viewerToken, c.api.Token(), c.api.URL())
	c.world = makeWorld(t, false, web, `, "name": "Garden",
		"permissions": {"exec": {"sandbox": "off"}},
		"context": {"memory": {"autoExtractEnabled": false}, "history": {"keepLastMessages": 2}}`)
	c.api.AwaitPoller(t)
	t.Cleanup(func() {
		for _, fault := range c.faults() {
			t.Errorf("a request broke the rules of strict providers: %v", fault)
		}
		if t.Failed() {
			t.Logf("the host said:\n%s", c.log())
		}
	})
	return c
}

// page opens an empty page in front of the proxy, which knows the owner's token.
func (c *consoleWorld) page(t *testing.T) *consolePage {
	t.Helper()
	return c.pageOf(t, c.url())
}

// pageOf opens an empty page, for the console at an address.
func (c *consoleWorld) pageOf(t *testing.T, url string) *consolePage {
	t.Helper()
	p := &consolePage{Page: c.browser.Page(t), t: t, url: url}
	p.Before(`{
		window.hit = 0;
		window.asking = 0; // requests that are not answered, but for streams
		const usual = window.fetch;
		window.fetch = async (...request) => {
			const stream = request[1]?.headers?.Accept === 'text/event-stream';
			if (!stream) window.asking++;
			try {
				return await usual(...request);
			} finally {
				if (!stream) window.asking--;
			}
		};
	}`)
	return p
}

// answered lets a person write to the bot and waits until it has answered.
func (c *consoleWorld) answered(t *testing.T, chat int64, text string) {
	t.Helper()
	before := len(c.api.Sent(chat))
	c.api.Say(chat, chat, text, nil)
	c.api.Await(t, "the answer to "+text, func() bool { return len(c.api.Sent(chat)) > before })
}

type consolePage struct {
	*browsertest.Page
	t   *testing.T
	url string
}

// show goes to a page of the console and waits until it shows what it asks the host for.
func (p *consolePage) show(place string) {
	p.t.Helper()
	p.Go(p.url + "/console/#/" + place)
	p.Eval(`window.calm = 0`)
	p.Until(`document.getElementById('title')?.textContent && (window.calm = asking ? 0 : (window.calm ?? 0) + 1) > 3 && document.getElementById('root').innerText.trim()`)
}

// quiet requires that a page has reported nothing, apart from reports with one of the given words.
func (p *consolePage) quiet(expected ...string) {
	p.t.Helper()
	for _, fault := range p.Faults() {
		known := false
		for _, e := range expected {
			known = known || strings.Contains(fault+" ", e)
		}
		if !known {
			p.t.Errorf("the page reported: %s", fault)
		}
	}
}

// TestConsole uses the operator's console of the real binary in a real browser.
func TestConsole(t *testing.T) {
	c := newConsoleWorld(t)
	for _, tt := range []struct {
		name string
		do   func(t *testing.T)
	}{
		{"every page opens", c.testPages},
		{"a run is seen live", c.testLive},
		{"a request is approved in the inbox", c.testApproval},
		{"a merge and a compaction are seen live", c.testMerge},
		{"by keys alone", c.testKeys},
		{"a chat is restarted and unloaded", c.testActors},
		{"people are blocked and let in", c.testPeople},
		{"a skill is approved as it was shown", c.testSkills},
		{"payloads are inert", c.testPayloads},
		{"roles", c.testRoles},
		{"in the dark and on a phone", c.testLooks},
		{"the host is killed", c.testReconnect},
		{"a chat is paused", c.testPause},
		{"an order takes long", c.testSlowOrder},
	} {
		t.Run(tt.name, tt.do)
	}
}

// ids are the pages that the navigation offers.
func (p *consolePage) ids() []string {
	p.t.Helper()
	return strings.Fields(p.Eval(`[...document.querySelectorAll('#pages a')].map((a) => a.dataset.id).join(' ')`))
}

// testPages opens every page in both languages.
func (c *consoleWorld) testPages(t *testing.T) {
	t.Helper()
	c.answered(t, 1, "hello")
	for _, language := range []string{"en", "zh"} {
		p := c.page(t)
		p.Call("Emulation.setUserAgentOverride", map[string]any{"userAgent": "test", "acceptLanguage": language}, nil)
		p.show("overview")
		ids := p.ids()
		if len(ids) < 15 {
			t.Fatalf("the navigation has only %q", ids)
		}
		titles := map[string]bool{}
		for _, id := range append(ids, "chat/telegram-chat-1", "no-such-page", "chat/%") {
			p.show(id)
			titles[p.Eval(`document.title`)] = true
			if got := p.Eval(`document.getElementById('state').textContent + [...document.querySelectorAll('#root [role=alert]')].map((e) => e.textContent).join()`); got != "" {
				t.Errorf("%s in %s shows an error: %s", id, language, got)
			}
		}
		if len(titles) < len(ids) {
			t.Errorf("%d pages in %s have the titles %v", len(ids), language, titles)
		}
		if got := p.Eval(`document.documentElement.lang`); got != language {
			t.Errorf("the page is in %s, want %s", got, language)
		}
		p.quiet("/chat?key=%25 ") // there is no such chat
	}
}

// audit reads the lines of the audit log that have all of some words.
func (c *consoleWorld) audit(t *testing.T, words ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir, ".ship", "approvals", "audit-*.jsonl"))
	stdtest.Must(t, err)
	var out []string
	for _, file := range files {
		raw := stdtest.Read(t, file)
	lines:
		for line := range strings.Lines(string(raw)) {
			for _, w := range words {
				if !strings.Contains(line, w) {
					continue lines
				}
			}
			out = append(out, line)
		}
	}
	return out
}
