package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/browsertest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// testLooks opens every page on a phone, and in both color schemes for axe, which looks for what people with a screen
// reader or weak eyes cannot use.
func (c *consoleWorld) testLooks(t *testing.T) {
	t.Helper()
	p := c.page(t)
	p.show("overview")
	places := append(p.ids(), "chat/telegram-chat-3", "memory/project")
	p.Phone()
	for _, place := range places {
		p.show(place)
		if got := p.Eval(`document.documentElement.scrollWidth > innerWidth ? [...document.querySelectorAll('#main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + '.' + e.className).slice(0, 9).join() || 'wide' : ''`); got != "" {
			t.Errorf("%s scrolls sideways on a phone: %s", place, got)
		}
	}
	p.quiet()
	file := filepath.Join("testdata", "e2e", "node_modules", "axe-core", "axe.min.js")
	need(t, file)
	axe := stdtest.Read(t, file)
	for _, scheme := range []string{"light", "dark"} {
		p := c.page(t)
		p.Prefers("prefers-color-scheme", scheme)
		p.show("overview")
		p.Run(string(axe) + "; 1")
		for _, place := range places {
			p.show(place)
			if got := p.Eval(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => v.id + ': ' + v.help + '\n' + v.nodes.slice(0, 3).map((n) => '  ' + n.html.slice(0, 150) + ' ' + (n.any[0]?.message ?? '')).join('\n')).join('\n'))`); got != "" {
				t.Errorf("%s, %s: %s", place, scheme, got)
			}
		}
		p.quiet()
	}
}

func (p *consolePage) focused() string {
	p.t.Helper()
	return p.Eval(`document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent`)
}

// tabTo presses Tab until something has the focus.
func (p *consolePage) tabTo(what string) {
	p.t.Helper()
	var seen []string
	for range 80 {
		p.Press("Tab")
		got := p.focused()
		if strings.HasPrefix(got, what) {
			return
		}
		seen = append(seen, got)
	}
	p.t.Fatalf("no key reaches %q but %q", what, seen)
}

// testKeys finds and decides a request without a pointer.
func (c *consoleWorld) testKeys(t *testing.T) {
	t.Helper()
	c.api.Say(8, 8, `#exec_shell {"command":"touch by-keys","why":"it was asked for"}`, nil)
	c.api.Await(t, "the request", func() bool { return len(c.api.Sent(8)) > 0 })
	// A word about what somebody else saw, or saw earlier, decides nothing.
	stale := fmt.Sprintf(`{"chatKey":"telegram-chat-8","numbers":[1],"approve":true,"digest":%q}`, strings.Repeat("0", 64))
	if code, body := asRole(t, "POST", "http://"+c.address()+"/console/api/approvals", c.proxy.token, stale); code != http.StatusOK || !strings.Contains(body, `"reason":"not_found"`) {
		t.Errorf("an order with another digest gets %d: %s", code, body)
	}
	p := c.page(t)
	p.show("overview")
	p.tabTo("skip")
	p.Press("Enter")
	p.Until(`document.activeElement.id === 'title'`)
	p.Eval(`document.activeElement.blur()`)
	p.tabTo("Approvals")
	p.Press("Enter")
	p.Until(`location.hash === '#/approvals' && document.querySelector('#root article')`)
	p.tabTo("Approve #1")
	p.Press("Enter")
	p.Until(`document.querySelector('#root article.closed') && document.querySelector('#root article').contains(document.activeElement)`)
	c.api.Await(t, "the effect", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "by-keys"))
		return err == nil
	})
	p.show("chats")
	p.Until(`document.querySelectorAll('.list a').length > 3`)
	p.Eval(`document.getElementById('title').focus()`)
	p.tabTo("telegram-chat-")
	p.Press("ArrowDown", "ArrowDown", "ArrowUp", "Enter")
	p.Until(`location.hash.startsWith('#/chat/telegram-chat-')`)
	p.quiet()
}

// TestConsoleOfACrowd lists 10,000 chats in the open demonstration without a pause that people notice. Nothing can be
// ordered there.
func TestConsoleOfACrowd(t *testing.T) {
	const chats = 10_000
	c := &consoleWorld{browser: browsertest.Start(t), world: &world{
		t: t, dir: t.TempDir(), command: []string{"demo", "--listen", "127.0.0.1:0", "--set", "metrics.listen=off"},
	}}
	for n := range chats {
		key := fmt.Sprintf("telegram-chat-%d", 1_000_000+n)
		c.write(".ship/chat/"+key+"/messages/history.jsonl", fmt.Sprintf(
			`{"id":"u","role":"user","parts":[{"type":"text","text":"hello"}],"metadata":{"ts":1795822808469,"chatKey":%q,"kind":"normal","seq":1}}`+"\n", key))
	}
	stdtest.Must(t, c.start())
	t.Cleanup(c.kill)
	host := "http://" + c.address()
	p := c.pageOf(t, host)
	p.show("overview")
	var steps []int
	step := func(what string, do func()) {
		t.Helper()
		best := 1000
		for tries := 0; best >= 100 && tries < 6; tries++ { // a full cache or a collection may be in the way
			before := p.Worked()
			do()
			best = min(best, int(p.Worked()-before))
		}
		steps = append(steps, best)
		if best >= 100 {
			t.Errorf("%s takes the page %d ms", what, best)
		}
	}
	step("showing all chats", func() {
		p.Eval(`(() => { location.hash = '#/overview'; })()`)
		p.Until(`!document.querySelector('.list')`)
		p.Eval(`(() => { location.hash = '#/chats'; })()`)
		p.Until(`document.querySelectorAll('.list .row').length > 8`)
	})
	if got := p.Eval(`document.querySelector('.bar').textContent.includes('10,000')`); got != "true" {
		t.Error("the page does not say how many chats there are")
	}
	const frame = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))`
	for part := range 5 {
		step("scrolling", func() {
			p.Eval(`(() => { const box = document.querySelector('.list'); box.scrollTop = box.scrollHeight * %d / 4; return %s; })()`, part, frame)
		})
	}
	for _, words := range []string{"1", "1009", "1009999", "nothing like it", ""} {
		step("searching "+words, func() {
			p.Eval(`(() => { const find = document.querySelector('input[type=search]'); find.value = %q; find.dispatchEvent(new Event('input')); return %s; })()`, words, frame)
		})
	}
	t.Logf("milliseconds of each step: %d", steps)
	for path, order := range orders() {
		if code, body := asRole(t, "POST", host+"/console/api/"+path, "", order); code != http.StatusForbidden {
			t.Errorf("the order %s gets %d in the demonstration: %.200s", path, code, body)
		}
	}
	for _, id := range p.ids() {
		p.show(id)
		if got := p.Eval(`[...document.querySelectorAll('#root :is(button.primary, button.danger)')].map((b) => b.textContent).join()`); got != "" {
			t.Errorf("the demonstration offers %s on %s", got, id)
		}
	}
	p.quiet()
}
