package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// live is whether the timeline of a chat's page has a line with these words.
func live(words string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.timeline li')].some((l) => l.textContent.includes(%q))`, words)
}

// history is whether the history of a chat's page has a message with these words.
func history(words string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.msg')].some((m) => m.innerText.includes(%q))`, words)
}

// testLive watches a run from another chat's platform, from its first step to its end.
func (c *consoleWorld) testLive(t *testing.T) {
	t.Helper()
	c.answered(t, 2, "hello")
	p := c.page(t)
	p.show("chat/telegram-chat-2")
	p.Until(history("hello"))
	c.api.Say(2, 2, "the beginning |@live| and the end", nil)
	stdtest.Must(t, c.model.waitReached(t.Context(), "live"))
	p.Until(`document.querySelector('.timeline li.head.going') && ` + live("Model call"))
	p.Until(history("the beginning |@live| and the end"))
	c.model.open("live")
	p.Until(`!document.querySelector('.timeline li.going') && ` + live("done"))
	p.Until(history("the beginning  and the end"))
	p.quiet()
}

// testApproval asks for a command in Telegram and approves it in the console: what is shown is what runs, once.
func (c *consoleWorld) testApproval(t *testing.T) {
	t.Helper()
	p := c.page(t)
	p.show("approvals")
	command := `printf 'a\tb' >> ran.txt # ünïcode "quotes" <b>`
	c.api.Say(3, 3, `#exec_shell {"command":`+strconv.Quote(command)+`,"why":"to show it"}`, nil)
	p.Until(`document.querySelectorAll('#root article').length === 1`)
	c.api.Await(t, "the request in its chat", func() bool { return len(c.api.Sent(3)) > 0 })
	if got := p.Eval(`document.querySelector('#root article pre').textContent`); !strings.Contains(got, command) {
		t.Errorf("the inbox shows %q, want in it the bytes %q", got, command)
	}
	if got := p.Eval(`[...document.querySelectorAll('#root article .line')].map((e) => e.textContent).join(' ')`); !strings.Contains(got, "asked by Ann") || !strings.Contains(got, "may decide: whoever is logged in here") {
		t.Errorf("the inbox says of people %q", got)
	}
	digest := p.Eval(`fetch('/console/api/approvals').then((r) => r.json()).then((all) => all[0].digest)`)
	if _, err := os.Stat(filepath.Join(c.dir, "ran.txt")); err == nil {
		t.Error("it ran before anybody decided")
	}
	p.Eval(`document.querySelector('#root article button.primary').click()`)
	p.Until(`document.querySelector('#root article.closed')?.textContent.includes('approved')`)
	c.api.Await(t, "the end of the run", func() bool {
		sent := c.api.Sent(3)
		return len(sent) > 0 && strings.Contains(sent[len(sent)-1].Text, "the tool gave")
	})
	if raw, err := os.ReadFile(filepath.Join(c.dir, "ran.txt")); string(raw) != "a\tb" {
		t.Errorf("the command left %q, %v", raw, err)
	}
	if got := c.audit(t, `"event":"approval"`, `"result":"approved"`, `"by":"web-console"`, digest); len(got) != 1 {
		t.Errorf("the audit log has %q, want one approval of %s", got, digest)
	}
	journal, err := os.ReadFile(filepath.Join(c.dir, ".ship", "chat", "telegram-chat-3", "messages", "journal.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"kind":"decide"`) || !strings.Contains(string(journal), `"answer":"approved","by":"web-console"`) {
		t.Errorf("the journal does not say who decided (%v):\n%s", err, journal)
	}
	late := fmt.Sprintf(`{"chatKey":"telegram-chat-3","numbers":[1],"approve":false,"digest":%q}`, digest)
	if _, body := asRole(t, "POST", "http://"+c.address()+"/console/api/approvals", c.proxy.token, late); !strings.Contains(body, `"decided":[]`) {
		t.Errorf("a late word gets %s", body)
	}
	p.show("chat/telegram-chat-3")
	p.Until(`[...document.querySelectorAll('.msg')].some((m) => m.innerText.includes('approved by console'))`)
	p.quiet()
}

// testMerge watches a message that joins a run, and a compaction.
func (c *consoleWorld) testMerge(t *testing.T) {
	t.Helper()
	for n := range 4 {
		c.answered(t, 4, fmt.Sprint("hello ", n))
	}
	p := c.page(t)
	p.show("chat/telegram-chat-4")
	p.Until(history("hello 3"))
	c.api.Say(4, 4, `first |@merge|#list_files {}`, nil)
	stdtest.Must(t, c.model.waitReached(t.Context(), "merge"))
	c.api.Say(4, 4, "and this as well", nil)
	p.Until(`document.body.innerText.includes('and this as well')`)
	c.model.open("merge")
	p.Until(live("list_files") + ` && ` + live("New messages join the run"))
	p.Until(live("done"))
	p.Until(history("joined"))
	c.api.Say(4, 4, "/compact", nil)
	p.Until(live("condensed"))
	p.Until(history("Summary of 8 earlier messages"))
	p.quiet()
}

// testReconnect kills the host of an open page. The page says so and continues with the next host without being
// reloaded.
func (c *consoleWorld) testReconnect(t *testing.T) {
	t.Helper()
	list, chat := c.page(t), c.page(t)
	list.show("overview")
	chat.show("chat/telegram-chat-2")
	for _, p := range []*consolePage{list, chat} {
		p.Eval(`(() => { window.same = true; })()`)
	}
	c.kill()
	list.Until(`document.getElementById('state').textContent.includes('cannot be reached')`)
	chat.Until(live("Connection lost"))
	stdtest.Must(t, c.start())
	list.Until(`document.getElementById('state').textContent === ''`)
	chat.Until(live("Connected again"))
	c.answered(t, 2, "after the restart")
	chat.Until(history("after the restart") + ` && ` + live("done"))
	for _, p := range []*consolePage{list, chat} {
		if p.Eval(`window.same`) != "true" {
			t.Error("the page was loaded anew")
		}
		p.quiet("Failed to load resource", "ERR_")
	}
}
