package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/browsertest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// asRole sends a request to the host with a token, or without one.
func asRole(t *testing.T, method, url, token, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	stdtest.Must(t, err)
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
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }() // only read from
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	stdtest.Must(t, err)
	return resp.StatusCode, string(raw)
}

// orders are all orders of the console, each of which would change something.
func orders() map[string]string {
	return map[string]string{
		"approvals": `{"chatKey":"telegram-chat-1","approve":true}`, "grants": `{"chatKey":"telegram-chat-1"}`, "outbox": `{"chatKey":"telegram-chat-1"}`,
		"forget": `{"chatKey":"telegram-chat-1"}`, "rewind": `{"chatKey":"telegram-chat-1","before":"x"}`, "mcp": `{}`, "tasks": `{}`,
		"people": `{"bot":"telegram","do":"remove","id":"1"}`, "memory": `{"memory":"project","was":"","text":"x"}`,
		"pause": `{"chatKey":"telegram-chat-1","paused":true}`, "unload": `{"chatKey":"telegram-chat-1","restart":true}`, "skills": `{"name":"evil","digest":"sha256:0"}`,
	}
}

// private are words that only people of a chat and the owner may read.
const private = "a secret of chat seven"

// testRoles logs in as a viewer, who sees no private texts and gives no orders.
func (c *consoleWorld) testRoles(t *testing.T) {
	t.Helper()
	c.answered(t, 7, private)
	host := "http://" + c.address()
	p := c.pageOf(t, host)
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
		if got := p.Eval(`[...document.querySelectorAll('#root a[href^="#/"]:not([hidden])')].map((a) => a.hash).filter((to) => !to.startsWith('#/chat/') && !document.querySelector('#pages a[href="' + to + '"]')).join()`); got != "" {
			t.Errorf("links of %s lead a viewer to %s", id, got)
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
		"contexts?key=telegram-chat-7",
	} {
		if code, body := asRole(t, "GET", host+"/console/api/"+path, viewerToken, ""); code != http.StatusForbidden {
			t.Errorf("a viewer gets %d for %s: %.200s", code, path, body)
		}
	}
	for _, path := range []string{"me", "status", "gauges", "chats", "chat?key=telegram-chat-7", "ask/usage", "ask/models", "actors"} {
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

// testPayloads shows payloads at every place where words of others appear. Nothing of them runs or is fetched, and they
// are all there as text.
func (c *consoleWorld) testPayloads(t *testing.T) {
	t.Helper()
	payloads := browsertest.Payloads()
	c.plant(t, payloads)
	c.answered(t, 5, "hello")
	p := c.page(t)
	p.show("chat/telegram-chat-5")
	from := map[string]any{"from": map[string]any{"id": 5, "is_bot": false, "first_name": injected}}
	before := len(c.api.Sent(5))
	c.api.Say(5, 5, `p: `+strings.Join(payloads[:20], " ")+`|@evil|#read_file {"path":"evil.txt"}`, from)
	p.Until(live("Run"))
	c.model.open("evil")
	c.api.Await(t, "the answer", func() bool { return len(c.api.Sent(5)) > before })
	p.Until(live("read_file"))
	input := encoded(t, map[string]string{"command": "true # " + strings.Join(payloads[:12], " "), "why": injected})
	before = len(c.api.Sent(5))
	c.api.Say(5, 5, "#exec_shell "+strings.ReplaceAll(string(input), "|", "/"), from)
	c.api.Await(t, "the request", func() bool { return len(c.api.Sent(5)) > before })
	escaped := url.PathEscape(injected)
	for place, shown := range map[string]string{
		"approvals": injected, "chat/telegram-chat-5": injected, "chat/" + evilChat: injected, "memory/project": injected, "tasks": injected, "skills": injected,
		"people": injected, "search?q=onerror": injected, "chats": injected, "log?chat=" + escaped: "", "chats?find=" + escaped: "", "chat/" + escaped: "", "memory/" + escaped: "",
		"search?q=" + escaped: "", "overview": "", "outbox": "", "grants": "", "usage": "", "actors": "", "log": "", "doctor": "", "settings": "",
	} {
		p.show(place)
		p.inert(place)
		p.Until(fmt.Sprintf(`document.getElementById('root').textContent.includes(%q)`, shown))
	}
	p.show("approvals")
	p.Eval(`[...document.querySelectorAll('#root article button')].find((b) => b.textContent === 'Deny').click()`)
	p.Until(`document.querySelector('#root article.closed')`)
	p.quiet("404 (Not Found)")
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

// plant stores a history with payloads everywhere, which no host would write, and other files of the project.
func (c *consoleWorld) plant(t *testing.T, payloads []string) {
	t.Helper()
	dir := t.TempDir() // the folder of the host is locked
	store, err := filestore.Open(filestore.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	stdtest.Must(t, err)
	chat, err := store.OpenChat(t.Context(), evilChat)
	stdtest.Must(t, err)
	for i, p := range append(payloads, injected) {
		call, title := fmt.Sprint("c", i), uimessage.Some(p)
		asked := map[string]any{"id": p, "n": 1, "callId": call, "answer": "approved", "by": p, "byName": p, "reason": p, "exact": p, "what": p, "title": p}
		meta := map[string]any{
			"ts": time.Now().UnixMilli(), "chatKey": evilChat, "kind": "normal", "username": p, "userId": p, "chatTitle": p, "model": p, "result": p, "reason": p,
			"archive": p, "aged": p, "notice": p, "fates": []any{map[string]any{"id": p, "fate": p}}, "approvals": map[string]any{"requests": []any{asked}},
		}
		err := chat.AppendHistory(t.Context(),
			uimessage.Message{ID: fmt.Sprint("u", i), Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: p}}, Metadata: encoded(t, meta)},
			uimessage.Message{ID: fmt.Sprint("a", i), Role: uimessage.RoleAssistant, Metadata: encoded(t, meta), Parts: []uimessage.Part{
				uimessage.Text{Text: p},
				uimessage.Reasoning{Text: p},
				uimessage.SourceURL{SourceID: p, URL: p, Title: title},
				uimessage.Tool{ToolCallID: call, Name: "x" + p, State: uimessage.ToolOutputError, Input: encoded(t, p), ErrorText: title, Title: title},
				uimessage.File{MediaType: p, URL: p, Filename: title},
				uimessage.Data{Name: p, Data: encoded(t, p)},
			}})
		stdtest.Must(t, err)
	}
	stdtest.Must(t, errors.Join(chat.Close(), store.Close(), os.CopyFS(filepath.Join(c.dir, ".ship", "chat", evilChat), os.DirFS(filepath.Join(dir, "chat", evilChat)))))
	c.write(".ship/memory/project.md", "# Memory\n\n"+strings.Join(payloads, "\n"))
	c.write("evil.txt", strings.Join(payloads, "\n"))
	c.write(".ship/tasks/evil.md", fmt.Sprintf("---\ntitle: %q\ncron: \"0 9 * * 1\"\nchatKey: %q\nstatus: \"paused\"\n---\n\n%s\n", injected, evilChat, injected))
	c.write(".ship/skills/evil/SKILL.md", fmt.Sprintf("---\nname: evil\ndescription: %q\n---\n\n%s\n", injected, injected))
	c.write(".ship/access.json", fmt.Sprintf(
		`{"v":1,"accounts":{"telegram":{"owner":{"id":"77","name":%q},"people":[{"id":"78","name":%q}],"groups":[{"id":"-79","title":%q}]}}}`, injected, injected, injected))
}

func encoded(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	stdtest.Must(t, err)
	return raw
}
