package main_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// largestPicture is how many bytes a picture of the documentation may have.
const largestPicture = 150_000

// TestConsolePictures shows the console as the pictures docs/images/console-*.png do: a bot in use, with a run in
// progress and requests that wait. With PICTURES set to a folder the pictures are left there, which
// docs/images/screenshot.sh does.
func TestConsolePictures(t *testing.T) {
	c := newConsoleWorld(t)
	c.write(".ship/access.json", `{"v":1,"accounts":{"telegram":{"owner":{"id":"1","name":"Ann"},"people":[{"id":"2","name":"Ben"},{"id":"3","name":"Dora"},{"id":"4","name":"Cleo"}]}}}`)
	c.model.learn(map[string][]string{
		"What grows well in the shade?":    {"Ferns, hostas and lady's mantle. Give them leaf mould in spring and they look after themselves."},
		"Which roses may I cut now?":       {"The climbing ones only after they have bloomed; the bush roses now, down to three eyes."},
		"Who has the key of the shed?":     {"Ben took it on Tuesday. He said that he brings it back on Saturday."},
		"Please empty the list of 2025.":   {`I will empty it.|#write_file {"path":"garden-2025.md","content":""}`},
		"Print the plan of the beds.":      {`#exec_shell {"command":"lp -o media=A3 plans/beds.pdf","why":"Cleo asked for the plan on paper."}`},
		"How much rain fell this week?":    {`I will look it up.|#list_files {"path":"."}`, `@rain|14 mm, most of it on Tuesday.`},
		"And do the beans need any water?": {"Not before Friday."},
	})
	say := func(chat int64, name, text string) {
		t.Helper()
		c.api.Say(chat, chat, text, map[string]any{
			"from": map[string]any{"id": chat, "is_bot": false, "first_name": name}, "chat": map[string]any{"id": chat, "type": "private", "first_name": name},
			"date": time.Now().Unix(),
		})
	}
	for i, said := range [][2]string{
		{"Ann", "What grows well in the shade?"},
		{"Ben", "Which roses may I cut now?"},
		{"Dora", "Who has the key of the shed?"},
		{"Ann", "Please empty the list of 2025."},
		{"Cleo", "Print the plan of the beds."},
	} {
		chat := []int64{1, 2, 3, 1, 4}[i]
		before := len(c.api.Sent(chat))
		say(chat, said[0], said[1])
		c.api.Await(t, "an answer to "+said[0], func() bool { return len(c.api.Sent(chat)) > before })
	}
	p := c.page(t)
	p.Before(asOfAnn)
	p.show("chat/telegram-chat-2")
	p.Until(history("three eyes"))
	p.Eval(`new Promise((done) => setTimeout(done, 500))`) // the run begins after the page was opened
	say(2, "Ben", "How much rain fell this week?")
	stdtest.Must(t, c.model.waitReached(t.Context(), "rain"))
	say(2, "Ben", "And do the beans need any water?")
	p.Until(live("list_files") + ` && document.body.innerText.includes('beans')`)
	p.picture("console-chat")
	c.model.open("rain")
	p.Until(live("New messages join") + ` || ` + live("done"))
	p.show("overview")
	p.Until(`document.querySelector('#root table')`)
	p.picture("console-overview")
	p.show("approvals")
	p.Until(`document.querySelectorAll('#root article').length === 2`)
	p.picture("console-approvals")
	p.show("actors")
	p.Until(`document.querySelectorAll('#root article').length > 1`)
	p.picture("console-actors")
	p.Prefers("prefers-color-scheme", "dark")
	p.show("chats")
	p.Until(`document.querySelectorAll('.list a').length === 4`)
	p.picture("console-dark")
	p.Prefers("prefers-color-scheme", "light")
	p.Phone()
	p.show("approvals")
	p.Until(`document.querySelectorAll('#root article').length === 2`)
	p.picture("console-phone")
	p.quiet()
}

// asOfAnn is a script with which the answers of the host are those of a project that is not on this machine.
const asOfAnn = `{
	const usual = window.fetch;
	window.fetch = async (...request) => {
		const res = await usual(...request);
		if (res.status !== 200 || !res.headers.get('Content-Type')?.includes('json')) return res;
		return new Response((await res.text()).replace(/\/tmp\/Test[^"]*\/00\d/g, '/home/ann/garden').replaceAll('"scripted"', '"gpt-5"').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:3000').replace('"devel"', '"1.0.0"'), res);
	};
}`

func (p *consolePage) picture(name string) {
	p.t.Helper()
	picture := p.Picture()
	if len(picture) > largestPicture {
		p.t.Errorf("%s has %d bytes, want at most %d", name, len(picture), largestPicture)
	}
	if dir := os.Getenv("PICTURES"); dir != "" {
		stdtest.Must(p.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600))
	}
}
