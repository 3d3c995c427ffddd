package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/browsertest"
)

// asRole sends a request to the host with a token, or without one.
func asRole(t *testing.T, method, url, token, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// orders are all orders of the console, each of which would change something.
func orders() map[string]string {
	return map[string]string{
		"approvals": `{"chatKey":"telegram-chat-1","approve":true}`, "grants": `{"chatKey":"telegram-chat-1"}`, "outbox": `{"chatKey":"telegram-chat-1"}`,
		"forget": `{"chatKey":"telegram-chat-1"}`, "rewind": `{"chatKey":"telegram-chat-1","before":"x"}`, "mcp": `{}`, "tasks": `{}`,
		"people": `{"bot":"telegram","do":"remove","id":"1"}`, "memory": `{"memory":"project","was":"","text":"x"}`,
	}
}

// private are words that only people of a chat and the owner may read.
const private = "a secret of chat seven"

// testRoles logs in as a viewer, who sees no private texts and gives no orders.
func (c *consoleWorld) testRoles(t *testing.T) {
	c.answered(t, 7, private)
	host := "http://" + c.address()
	p := &consolePage{Page: c.browser.Page(t), t: t, url: host}
	p.Go(host + "/console/")
	p.Until(`document.querySelector('input[type=password]')`)
	p.Eval(`(() => { document.querySelector('input').value = %q; document.querySelector('button').click(); })()`, viewerToken)
	p.Until(`location.pathname === '/console/' && document.getElementById('title')?.textContent`)
	ids := p.ids()
	for _, id := range append(ids, "approvals", "log", "search", "memory", "settings", "chat/telegram-chat-7") {
		p.show(id)
		if got := p.Eval(`document.documentElement.outerHTML.includes(%q) || document.documentElement.outerHTML.includes('Ann')`, private); got != "false" {
			t.Errorf("a viewer reads private words on %s", id)
		}
		if got := p.Eval(`[...document.querySelectorAll('#root button')].map((b) => b.textContent).join('|')`); got != "" {
			t.Errorf("a viewer has the buttons %s on %s", got, id)
		}
	}
	p.quiet("401 (Unauthorized)") // before the login
	for _, id := range []string{"approvals", "log", "search", "memory", "settings", "people", "grants", "outbox", "skills", "doctor"} {
		if strings.Contains(" "+strings.Join(ids, " ")+" ", " "+id+" ") {
			t.Errorf("a viewer is offered the page %s", id)
		}
	}
	for _, path := range []string{
		"follow?key=telegram-chat-7", "search?q=secret", "approvals", "grants", "outbox", "tools", "mcp", "ask/doctor", "ask/show", "ask/check", "ask/tasks", "ask/memories",
		"ask/memory?of=project", "ask/people", "ask/skills", "ask/log?of=10", "ask/why?of=telegram-chat-7", "ask/archives?of=telegram-chat-7", "ask/bots",
	} {
		if code, body := asRole(t, "GET", host+"/console/api/"+path, viewerToken, ""); code != http.StatusForbidden {
			t.Errorf("a viewer gets %d for %s: %.200s", code, path, body)
		}
	}
	for _, path := range []string{"me", "status", "gauges", "chats", "chat?key=telegram-chat-7", "ask/usage", "ask/models"} {
		code, body := asRole(t, "GET", host+"/console/api/"+path, viewerToken, "")
		if code != http.StatusOK || strings.Contains(body, "secret") || strings.Contains(body, "Ann") {
			t.Errorf("a viewer gets %d for %s: %.300s", code, path, body)
		}
	}
	for _, path := range []string{"/", "/api/chats", "/api/chat/x/stream"} {
		if code, _ := asRole(t, "GET", host+path, viewerToken, ""); code == http.StatusOK {
			t.Errorf("a viewer may use %s", path)
		}
	}
	token := c.proxy.token
	for path, order := range orders() {
		if code, body := asRole(t, "POST", host+"/console/api/"+path, viewerToken, order); code != http.StatusForbidden {
			t.Errorf("a viewer's order %s gets %d: %.200s", path, code, body)
		}
		for name, headers := range map[string][]string{
			"another origin": {"Origin", "http://evil.example"}, "another site": {"Sec-Fetch-Site", "cross-site"}, "a form": {"Content-Type", "text/plain"},
		} {
			if code, body := asRole(t, "POST", host+"/console/api/"+path, token, order, headers...); code != http.StatusForbidden && code != http.StatusUnsupportedMediaType {
				t.Errorf("the owner's order %s from %s gets %d: %.200s", path, name, code, body)
			}
		}
		if code, _ := asRole(t, "POST", host+"/console/api/"+path, "", order); code != http.StatusUnauthorized {
			t.Errorf("the order %s without a token gets %d", path, code)
		}
	}
}

// testPayloads shows payloads at every place where words of others appear. Nothing of them runs or is fetched.
func (c *consoleWorld) testPayloads(t *testing.T) {
	payloads := browsertest.Payloads()
	c.write(".ship/memory/Project.md", "# Memory\n\n"+strings.Join(payloads, "\n"))
	c.plant(t, payloads)
	c.write("evil.txt", strings.Join(payloads, "\n"))
	c.answered(t, 5, "hello")
	p := c.page(t)
	p.show("chat/telegram-chat-5")
	title := map[string]any{"from": map[string]any{"id": 5, "is_bot": false, "first_name": injected, "username": "evil"}}
	c.api.Say(5, 5, `p: `+strings.Join(payloads[:20], " ")+`|#read_file {"path":"evil.txt"}`, title)
	c.api.Await(t, "the answer", func() bool { return len(c.api.Sent(5)) > 0 })
	p.Until(live("read_file"))
	input, err := json.Marshal(map[string]string{"command": "true # " + strings.Join(payloads[:12], " "), "why": injected})
	if err != nil {
		t.Fatal(err)
	}
	c.api.Say(5, 5, "#exec_shell "+strings.ReplaceAll(string(input), "|", "/"), title)
	p.show("approvals")
	p.Until(`document.querySelectorAll('#root article:not(.closed)').length === 1`)
	ids := p.ids()
	for _, id := range append(ids, "chat/telegram-chat-5", "chat/"+evilChat, "memory/project", "search?q=script", "search?q="+"%3Cimg%20src%3Dx%20onerror%3Dhit%2B%2B%3E", "log?chat="+"%3Cimg%20src%3Dx%20onerror%3Dhit%2B%2B%3E", "chat/%3Cimg%20src=x%20onerror=hit++%3E", "chats?find=%3Csvg%20onload=hit++%3E") {
		p.show(id)
		p.inert(id)
	}
	p.show("approvals")
	p.Eval(`[...document.querySelectorAll('#root article button')].find((b) => b.textContent === 'Deny').click()`)
	p.Until(`document.querySelector('#root article.closed')`)
	p.quiet("404")
}

// inert opens what is folded and touches everything, and wants that nothing has run.
func (p *consolePage) inert(place string) {
	p.t.Helper()
	p.Eval(`(async () => {
		for (let i = 0; i < 2; i++) {
			for (const d of document.querySelectorAll('#root details')) d.open = true;
			await new Promise((done) => setTimeout(done, 50));
		}
		for (const e of document.querySelectorAll('#root *')) for (const n of ['mouseover', 'error', 'load']) e.dispatchEvent(new Event(n));
	})()`)
	if got := p.Eval(`window.hit + document.querySelectorAll(':is(#root, #say, #state, #side, dialog) :is(script, img, svg:not(.chart, .chart *), iframe, object, embed, video, audio, style, link, base, meta, math, template)').length`); got != "0" {
		p.t.Errorf("%s: %s payloads became elements or ran", place, got)
	}
	if got := p.Eval(`[...document.querySelectorAll('body *')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on') || /^(href|src|action|formaction|srcdoc)$/.test(a.name) && /^\s*(javascript|data|vbscript|file):/i.test(a.value))).map((e) => e.outerHTML).join()`); got != "" {
		p.t.Errorf("%s: elements have dangerous attributes: %s", place, got)
	}
}

// evilChat is a chat with a payload at every place of its stored messages.
const evilChat = "telegram-chat-6"

// plant stores a history that no host wrote.
func (c *consoleWorld) plant(t *testing.T, payloads []string) {
	t.Helper()
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for i, p := range payloads {
		meta := func(seq int) map[string]any {
			return map[string]any{
				"ts": time.Now().UnixMilli(), "chatKey": evilChat, "kind": "normal", "seq": seq, "username": p, "userId": p, "chatTitle": p, "model": p, "result": p, "reason": p,
				"archive": p, "aged": p, "notice": p, "fates": []any{map[string]any{"id": p, "fate": p}},
				"approvals": map[string]any{"requests": []any{map[string]any{"id": p, "n": 1, "callId": "c" + fmt.Sprint(i), "answer": "approved", "by": p, "byName": p, "reason": p, "exact": p, "what": p, "title": p}}},
			}
		}
		for _, m := range []map[string]any{
			{"id": fmt.Sprint("u", i), "role": "user", "parts": []any{map[string]any{"type": "text", "text": p}}, "metadata": meta(2*i + 1)},
			{"id": fmt.Sprint("a", i), "role": "assistant", "metadata": meta(2*i + 2), "parts": []any{
				map[string]any{"type": "text", "text": p}, map[string]any{"type": "reasoning", "text": p}, map[string]any{"type": "source-url", "sourceId": p, "url": p, "title": p},
				map[string]any{"type": "tool-x" + p, "toolCallId": "c" + fmt.Sprint(i), "state": "output-error", "input": p, "errorText": p, "title": p},
				map[string]any{"type": "file", "mediaType": p, "url": p, "filename": p}, map[string]any{"type": "data-" + p, "data": p},
			}},
		} {
			if err := out.Encode(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.write(".ship/chat/"+evilChat+"/messages/history.jsonl", lines.String())
}
