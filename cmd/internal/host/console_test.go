package host

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const viewersToken = "canary-viewer-token-0123456789"

// consoleHost is a host with a console, and with private texts in a chat, its title, a memory, a task and a request.
type consoleHost struct {
	*project
	h *Host
}

func newConsoleHost(t *testing.T, flags map[string]string) *consoleHost {
	t.Helper()
	p := newProject(t)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters": {"web": {"viewerToken": "`+viewersToken+`"}}}`)
	stdtest.Write(t, filepath.Join(p.dir, ".ship", "memory", "project.md"), "private-memory")
	stdtest.Write(t, filepath.Join(p.dir, ".ship", "tasks", "t.md"), "---\ntitle: private-task\ncron: \"0 9 * * *\"\nsay: true\nchatKey: telegram-chat-1\n---\nprivate-task\n")
	script := modeltest.NewScript(
		modeltest.Say("private-answer"), modeltest.CallTools(modeltest.Call{ID: "w", Name: "write_file", Input: `{"path":"private-file.txt","content":"private-content"}`}),
		modeltest.Say("private-end"))
	on := map[string]string{"adapters.web.enabled": "true", "adapters.telegram.egress": "direct", "context.memory.autoExtractEnabled": "false"}
	c := &consoleHost{project: p, h: p.start(t, Options{Model: script}, merged(telegramFlags(p), merged(on, flags)))}
	stdtest.Must(t, c.h.preferences.SetTitle("telegram-chat-1", "private-title"))
	p.api.Say(1, 1, "private-question", nil)
	p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(1, 1, "write it down", nil)
	p.api.Await(t, "the request", func() bool { return len(p.api.Sent(1)) == 2 })
	return c
}

func (c *consoleHost) ask(t *testing.T, method, path, token, body string) (int, string) {
	t.Helper()
	code, _, text := request(t, method, c.h.webAddr+"/console/api/"+path, token, body)
	return code, text
}

// Viewers read no text of people and no name of a chat anywhere; the owner reads them.
func TestWE12ViewersReadNothingPrivate(t *testing.T) {
	c := newConsoleHost(t, nil)
	owner := c.h.login.token.Reveal()
	for path, private := range map[string]bool{
		"me": false, "status": false, "gauges": false, "chats": true, "chat?key=telegram-chat-1": true, "approvals": true, "grants": false, "outbox": false,
		"search?q=private": true, "actors": false, "contexts?key=telegram-chat-1": false, "tools": false, "mcp": false, "chat?key=private-chat": false, "follow?key=private-chat": false,
	} {
		if _, text := c.ask(t, "GET", path, owner, ""); strings.Contains(text, "private-") != private {
			t.Errorf("the owner reads at %s: %s", path, text)
		}
		if _, text := c.ask(t, "GET", path, viewersToken, ""); strings.Contains(text, "private-") {
			t.Errorf("a viewer reads at %s: %s", path, text)
		}
	}
	for _, path := range []string{"/", "/api/chats", "/api/chat/x", "/api/chat/x/events", "/api/info"} {
		if _, text := getAs(t, c.h.webAddr+path, viewersToken); strings.Contains(text, "private-") {
			t.Errorf("a viewer reads at %s: %s", path, text)
		}
	}
}

// The list says which chats have a run and, to the owner, what they are called.
func TestChatsOfTheConsole(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	p := newProject(t)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters": {"web": {"viewerToken": "`+viewersToken+`"}}}`)
	h := p.start(t, Options{Model: modeltest.NewScript(modeltest.Held(release, modeltest.Say("hello")))}, merged(telegramFlags(p), map[string]string{"adapters.web.enabled": "true"}))
	p.api.Say(1, 1, "hi", nil)
	c := &consoleHost{project: p, h: h}
	faketest.Poll(t, "a chat with a run", func() bool {
		_, text := c.ask(t, "GET", "chats", viewersToken, "")
		return strings.Contains(text, `"running":true`)
	})
	stdtest.Must(t, h.preferences.SetTitle("telegram-chat-1", "private-title"))
	if _, text := c.ask(t, "GET", "chats", h.login.token.Reveal(), ""); !strings.Contains(text, `"name":"private-title","running":true}]`) {
		t.Errorf("got %s", text)
	}
}

// A decision in the console is that of the web's owner, and is recorded as made there. It is about what the person saw.
func TestDecisionsInTheConsole(t *testing.T) {
	c := newConsoleHost(t, nil)
	owner := c.h.login.token.Reveal()
	var lines []query.ApprovalLine
	_, text := c.ask(t, "GET", "approvals", owner, "")
	if err := json.Unmarshal([]byte(text), &lines); err != nil || len(lines) != 1 || lines[0].Name != "private-title" {
		t.Fatalf("the requests are %s (%v)", text, err)
	}
	order := func(digest string) string {
		doc, err := json.Marshal(query.ApprovalOrder{ChatKey: "telegram-chat-1", Numbers: []int{1}, Approve: true, Digest: digest})
		stdtest.Must(t, err)
		return string(doc)
	}
	for _, tt := range []struct {
		name, token, digest string
		status              int
		want                string
	}{
		{"a viewer", viewersToken, lines[0].Digest, 403, "viewers"},
		{"another request", owner, "another", 200, `"reason":"not_found"`},
		{"the owner", owner, lines[0].Digest, 200, `"is":"done"`},
		{"the owner, late", owner, lines[0].Digest, 200, `"reason":"not_found"`},
	} {
		if code, text := c.ask(t, "POST", "approvals", tt.token, order(tt.digest)); code != tt.status || !strings.Contains(text, tt.want) {
			t.Errorf("%s: got %d %s, want %d %s", tt.name, code, text, tt.status, tt.want)
		}
	}
	c.api.Await(t, "the end", func() bool { return strings.Contains(c.lastSent(), "private-end") })
	if found := filesWith(t, filepath.Join(c.dir, ".ship"), "web-console"); found == 0 {
		t.Error("no record says that the decision was made in the console")
	}
}

// lastSent is the last text in the chat.
func (c *consoleHost) lastSent() string {
	sent := c.api.Sent(1)
	return sent[len(sent)-1].Text
}

// filesWith counts the files below a folder that contain a text.
func filesWith(t *testing.T, dir, text string) (n int) {
	t.Helper()
	for _, data := range stdtest.Files(t, dir) {
		if strings.Contains(data, text) {
			n++
		}
	}
	return n
}

// Who may not decide as the web's owner may not do so in the console either.
func TestTheConsoleIsNoApprover(t *testing.T) {
	c := newConsoleHost(t, map[string]string{"permissions.exec.approvers": `["telegram-7"]`})
	code, text := c.ask(t, "POST", "approvals", c.h.login.token.Reveal(), `{"chatKey":"telegram-chat-1","approve":true}`)
	if code != http.StatusOK || !strings.Contains(text, `"is":"forbidden"`) {
		t.Errorf("got %d %s, want a refusal", code, text)
	}
}

// A stream shows what happens in a chat, and does not delay the end of the host.
func TestFollowInTheConsole(t *testing.T) {
	p := newProject(t)
	h := p.prepare(t, Options{Model: modeltest.NewScript(modeltest.Say("hello"), modeltest.Say("again"))}, pageFlags(p))
	stdtest.Must(t, h.Start(t.Context()))
	post(t, h, "m1", "hi")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.webAddr+"/console/api/follow?key=web-chat-c1", http.NoBody)
	stdtest.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+h.login.token.Reveal())
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = res.Body.Close() }() // read to its end
	lines := bufio.NewScanner(res.Body)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the stream ended before %s: %v", want, lines.Err())
	}
	until(`data: {"kind":"watching"}`)
	post(t, h, "m2", "hi again")
	until(`"last":true`)
	if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("stop: %v", err)
	}
	for lines.Scan() {
		continue // to the end
	}
	if err := lines.Err(); err != nil { // a request that does not end is waited for, and cut
		t.Errorf("the stream did not end by itself: %v", err)
	}
}

// The token that the host makes may not be the viewers' as well.
func TestViewersNeedATokenOfTheirOwn(t *testing.T) {
	p := newProject(t)
	stdtest.Must(t, os.Mkdir(filepath.Join(p.dir, ".ship"), 0o700))
	token, err := TokenFile(filepath.Join(p.dir, ".ship")).Open()
	stdtest.Must(t, err)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters": {"web": {"viewerToken": "`+token+`"}}}`)
	h := p.prepare(t, Options{}, map[string]string{"llm.provider": config.ProviderDemo})
	if err := h.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "viewerToken") {
		t.Errorf("the host starts: %v", err)
	}
}
