package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// press clicks the button with these words on a card or row that has others.
func (p *consolePage) press(in, words, has string) {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q))?.querySelectorAll('button')`, in, has)
	p.Until(fmt.Sprintf(`[...(%s ?? [])].some((b) => b.textContent === %q)`, find, words))
	p.Eval(`(() => { [...(%s ?? [])].find((b) => b.textContent === %q).click(); })()`, find, words)
}

// yes answers the question of a dialog.
func (p *consolePage) yes() {
	p.t.Helper()
	p.Until(`document.querySelector('dialog[open] button[value=yes]')`)
	p.Eval(`(() => { document.querySelector('dialog[open] button[value=yes]').click(); })()`)
}

// said is whether the page says these words.
func said(words string) string {
	return fmt.Sprintf(`document.getElementById('say').textContent.includes(%q)`, words)
}

// order posts an order as the owner, and returns the answer.
func (c *consoleWorld) order(t *testing.T, path, body string) (int, string) {
	t.Helper()
	return asRole(t, "POST", "http://"+c.address()+"/console/api/"+path, c.proxy.token, body)
}

// testActors restarts a chat in the middle of a run, which continues and is answered once, and unloads it.
func (c *consoleWorld) testActors(t *testing.T) {
	t.Helper()
	before := len(c.api.Sent(9))
	c.api.Say(9, 9, "this goes on |@again| after a restart", nil)
	stdtest.Must(t, c.model.waitReached(t.Context(), "again"))
	p := c.page(t)
	p.show("actors")
	for _, actor := range []string{"host", "router", "shard", "chat", "run", "modelgate", "scheduler", "adapter-telegram"} {
		if got := p.Eval(`[...document.querySelectorAll('#root li code')].some((e) => e.textContent === %q)`, actor); got != "true" {
			t.Errorf("the tree has no %s: %s", actor, p.Eval(`document.querySelector('#root ul').innerText`))
		}
	}
	p.press("article", "Unload", "telegram-chat-9")
	p.Until(said("It stays"))
	p.press("article", "Restart", "telegram-chat-9")
	p.yes()
	p.Until(said("Done."))
	c.model.open("again")
	c.api.Await(t, "the answer", func() bool { return len(c.api.Sent(9)) > before })
	c.answered(t, 9, "hello")
	answers := 0
	for _, m := range c.api.Sent(9) {
		if strings.Contains(m.Text, "this goes on") {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("the message was answered %d times", answers)
	}
	p.press("article", "Unload", "telegram-chat-9")
	p.Until(said("Done.") + ` && ![...document.querySelectorAll('article')].some((e) => e.textContent.includes('telegram-chat-9'))`)
	for body, want := range map[string]string{
		`{"chatKey":"telegram-chat-9"}`:                  `"refused":"not_loaded"`,
		`{"chatKey":"telegram-chat-9","restart":true}`:   `"refused":"not_loaded"`,
		`{"chatKey":"telegram-chat-999","restart":true}`: `"refused":"not_loaded"`,
		`{"chatKey":""}`: `error`,
	} {
		if code, got := c.order(t, "unload", body); !strings.Contains(got, want) {
			t.Errorf("the order %s gets %d: %s", body, code, got)
		}
	}
	c.answered(t, 9, "hello again")
	p.quiet()
}

// testPeople blocks somebody and lets them in again.
func (c *consoleWorld) testPeople(t *testing.T) {
	t.Helper()
	c.write(".ship/access.json", `{"v":1,"accounts":{"telegram":{"owner":{"id":"77","name":"Ann"},"people":[{"id":"78","name":"Ben"}]}}}`)
	p := c.page(t)
	p.show("people")
	p.press("tr", "Block", "Ben")
	p.yes()
	p.Until(`[...document.querySelectorAll('tr')].some((e) => e.textContent.includes('Ben') && e.textContent.includes('blocked'))`)
	for order, body := range map[string]string{
		"blocked already": `{"bot":"telegram","do":"block","id":"78"}`, "the owner": `{"bot":"telegram","do":"block","id":"77"}`,
		"a stranger": `{"bot":"telegram","do":"approve","id":"5"}`, "another bot": `{"bot":"feishu@x","do":"approve","id":"78"}`, "nobody": `{"bot":"telegram","do":"block","id":""}`,
	} {
		if code, got := c.order(t, "people", body); code == http.StatusOK {
			t.Errorf("%s: %s", order, got)
		}
	}
	p.press("tr", "Let in", "Ben")
	p.Until(`[...document.querySelectorAll('tr')].some((e) => e.textContent.includes('Ben') && e.textContent.includes('may use'))`)
	p.quiet()
}

// testSkills approves a skill as it was shown, and nothing that has changed since.
func (c *consoleWorld) testSkills(t *testing.T) {
	t.Helper()
	skill := func(words string) {
		c.write(".ship/skills/pruning/SKILL.md", "---\nname: pruning\ndescription: How to prune.\nallowed-tools: read_file no_such_tool\n---\n\n"+words+"\n")
	}
	skill("Cut in March.")
	p := c.page(t)
	p.show("skills")
	p.Until(`[...document.querySelectorAll('#root td div.warn')].map((e) => e.textContent).join() === 'unknown here: no_such_tool'`)
	p.press("tr", "Read and approve", "pruning")
	p.Until(`document.querySelector('#root .box pre')?.textContent.includes('Cut in March.')`)
	skill("Cut everything.")
	p.press(".box", "Approve as shown", "Cut in March.")
	p.Until(said("has changed since it was shown"))
	p.press("tr", "Read and approve", "pruning")
	p.Until(`document.querySelector('#root .box pre')?.textContent.includes('Cut everything.')`)
	p.press(".box", "Approve as shown", "Cut everything.")
	p.Until(said("is approved") + ` && [...document.querySelectorAll('tr')].some((e) => e.textContent.includes('pruning') && e.textContent.includes('approved'))`)
	p.press("tr", "Revoke", "pruning")
	p.Until(said("asks again") + ` && [...document.querySelectorAll('tr')].some((e) => e.textContent.includes('pruning') && e.textContent.includes('asks first'))`)
	for _, body := range []string{`{}`, `{"name":"none"}`, `{"name":"pruning","digest":"sha256:0"}`} {
		if code, got := c.order(t, "skills", body); code == http.StatusOK {
			t.Errorf("the order %s is carried out: %s", body, got)
		}
	}
	p.quiet("409 (Conflict)") // what has changed is not approved
}

// testPause pauses a chat: its run ends, and new messages wait, also across a kill of the host, until the pause ends.
func (c *consoleWorld) testPause(t *testing.T) {
	t.Helper()
	c.answered(t, 1, "before")
	before := len(c.api.Sent(1))
	c.api.Say(1, 1, "the last run |@last| ends", nil)
	stdtest.Must(t, c.model.waitReached(t.Context(), "last"))
	p := c.page(t)
	p.show("chat/telegram-chat-1")
	p.press("aside .bar", "Pause", "Pause")
	p.Until(`document.querySelector('aside .label.warn')?.textContent === 'paused'`)
	list := c.page(t)
	list.show("chats")
	list.Until(`[...document.querySelectorAll('#root .row')].find((r) => r.textContent.includes('telegram-chat-1'))?.querySelector('.label')?.textContent === 'paused'`)
	c.model.open("last")
	c.api.Await(t, "the end of the run", func() bool { return len(c.api.Sent(1)) == before+1 })
	c.api.Say(1, 1, "this waits", nil)
	p.Until(history("this waits"))
	c.kill()
	stdtest.Must(t, c.start())
	c.answered(t, 2, "another chat goes on")
	if got := len(c.api.Sent(1)); got != before+1 {
		t.Errorf("a paused chat has sent %d messages", got-before)
	}
	p.Until(`[...document.querySelectorAll('aside .bar button')].some((b) => b.textContent === 'Resume')`)
	p.press("aside .bar", "Resume", "Resume")
	c.api.Await(t, "the answer", func() bool { return len(c.api.Sent(1)) == before+2 })
	p.Until(`![...document.querySelectorAll('aside .label')].some((l) => l.textContent === 'paused')`)
	for _, order := range []string{`"reason":"paused=true"`, `"reason":"paused=false"`} {
		if got := c.audit(t, `"event":"order"`, `"name":"pause"`, `"by":"console"`, `"telegram-chat-1"`, order); len(got) != 1 {
			t.Errorf("the audit log has %d orders with %s, want 1", len(got), order)
		}
	}
	p.quiet("Failed to load resource", "ERR_")
}

// testSlowOrder gives an order whose answer does not come: the page says that it is still at work until it does.
func (c *consoleWorld) testSlowOrder(t *testing.T) {
	t.Helper()
	p := c.page(t)
	p.show("chat/telegram-chat-1")
	p.Eval(`(() => {
		const usual = window.fetch;
		window.fetch = async (...request) => {
			if (request[1]?.method === 'POST') await new Promise((go) => { window.answer = go; });
			return usual(...request);
		};
	})()`)
	p.press("aside .bar", "Pause", "Pause")
	p.Until(said("Still at work…"))
	p.Eval(`(() => { window.answer(); })()`)
	p.Until(`document.getElementById('say').textContent === '' && document.querySelector('aside .label.warn')?.textContent === 'paused'`)
	p.quiet()
}
