package host

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/anthropictest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// chosen is a host with a main model, and another one of another protocol that people may choose.
type chosen struct {
	*project
	h     *Host
	deep  *anthropictest.Server
	flags map[string]string
	opts  Options
}

func newChosen(t *testing.T) *chosen {
	t.Helper()
	says := func(name string) model.Model {
		return modeltest.NewFunc(func(model.Request) []model.Event {
			return append(modeltest.TextEvents("From "+name+"."), modeltest.Finish("stop"))
		})
	}
	main, deep := modeltest.NewServer(says("main"), modeltest.ServerOptions{}), anthropictest.NewServer(says("deep"), "")
	t.Cleanup(main.Close)
	t.Cleanup(deep.Close)
	t.Cleanup(func() {
		if faults := append(main.Faults(), deep.Faults()...); len(faults) > 0 {
			t.Errorf("requests that no service takes: %v", faults)
		}
	})
	c := &chosen{project: newProject(t), deep: deep}
	c.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
	c.flags = telegramFlags(c.project)
	c.flags["adapters.telegram.egress"], c.flags["llm.baseUrl"], c.flags["llm.model"] = "direct", main.URL, "main-1"
	c.flags["llm.choices"] = `[{"name": "deep", "provider": "custom", "api": "messages", "model": "claude-x", "baseUrl": "` + deep.URL + `"}]`
	return c
}

func (c *chosen) start(t *testing.T) {
	t.Helper()
	c.h = c.prepare(t, c.opts, c.flags)
	stdtest.Must(t, c.h.Start(t.Context()))
}

func (c *chosen) stop(t *testing.T) {
	t.Helper()
	if err := c.h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// efforts are the efforts that the other model was asked for.
func (c *chosen) efforts() (list []string) {
	for _, raw := range c.deep.Bodies() {
		var body struct {
			Thinking     struct{ Type string }   `json:"thinking"`
			OutputConfig struct{ Effort string } `json:"output_config"`
		}
		if json.Unmarshal(raw, &body) != nil || body.Thinking.Type == "disabled" {
			body.OutputConfig.Effort = "off"
		}
		list = append(list, body.OutputConfig.Effort)
	}
	return list
}

func (c *chosen) say(t *testing.T, chat, person int64, text string, more map[string]any) string {
	t.Helper()
	n := len(c.api.Sent(chat))
	c.api.Say(chat, person, text, more)
	c.api.Await(t, "the answer to "+text, func() bool { return len(c.api.Sent(chat)) > n })
	return c.api.Sent(chat)[n].Text
}

// The model that people choose answers from then on, after a restart, too. The history says which
// model answered, and a change is a counted cause of a request that begins anew.
func TestModelOfAChat(t *testing.T) {
	c := newChosen(t)
	c.start(t)
	for _, step := range []struct{ say, want string }{
		{"hi", "From main."},
		{"/model", "The model here is main (main-1). Choose another with /model NAME:\n\nmain (main-1)\ndeep (claude-x)"},
		{"/model huge", "There is no model called huge. Choose one of these with /model NAME:\n\nmain (main-1)\ndeep (claude-x)"},
		{"/model Deep", "From now on, deep (claude-x) answers here."},
		{"and now?", "From deep."},
		{"/language zh", "从现在起，这里的提示语使用中文。回答的语言跟随你的消息。"},
		{"/model", "这里使用的模型是 deep（claude-x）。可以发送 /model 名称 更换：\n\nmain（main-1）\ndeep（claude-x）"},
	} {
		if got := c.say(t, 1, 1, step.say, nil); got != step.want {
			t.Errorf("%q was answered %q, want %q", step.say, got, step.want)
		}
	}
	if got := labelled(t, c.h, "sma_prompt_prefix_broken_total", "cause"); got["model"] != 1 {
		t.Errorf("broken prefixes: %v, want one by the model", got)
	}
	c.stop(t)
	c.start(t)
	if got := c.say(t, 1, 1, "still there?", nil); got != "From deep." {
		t.Errorf("after a restart: %q", got)
	}
	if got := c.say(t, 1, 1, "/status", nil); !strings.Contains(got, "模型：claude-x\n上次回答：读取 ") {
		t.Errorf("the status says %q", got)
	}
	if got := c.say(t, 2, 2, "and in my chat?", nil); got != "From main." {
		t.Errorf("in another chat: %q", got)
	}
	if got := c.say(t, 1, 1, "/model main", nil); got != "从现在起，这里由 main（main-1）回答。" {
		t.Errorf("back to the main model: %q", got)
	}
	c.say(t, 1, 1, "good", nil)
	c.stop(t)
	history := allText(t, filepath.Join(c.dir, ".ship", "chat", "telegram-chat-1"))
	if strings.Count(history, `"model":"claude-x"`) < 2 || strings.Count(history, `"model":"main-1"`) < 2 {
		t.Errorf("the history does not say who answered: %s", history)
	}
	// A choice that is gone from the settings means the main model.
	c.flags["llm.choices"] = `[]`
	c.start(t)
	c.stop(t)
}

// How much the model of a chat thinks is chosen with it, or alone, and is kept like it. A model that does not think as
// asked says what can be chosen. What the service does not take is left out from then on, and the status says so.
func TestEffortOfAChat(t *testing.T) {
	c := newChosen(t)
	c.flags["llm.choices"] = strings.Replace(c.flags["llm.choices"], "claude-x", "claude-sonnet-5", 1)
	c.start(t)
	const list = "main (main-1)\ndeep (claude-sonnet-5): off, low, medium, high, xhigh, max"
	for _, step := range []struct{ say, want string }{
		{"/model", "The model here is main (main-1). Choose another with /model NAME, and how much it thinks with /model NAME EFFORT:\n\n" + list},
		{"/model main high", "How much main (main-1) thinks cannot be chosen. Nothing was changed."},
		{"/model high", "How much main (main-1) thinks cannot be chosen. Nothing was changed."},
		{"/model deep huge", "How much deep (claude-sonnet-5) thinks can be off, low, medium, high, xhigh, max. Nothing was changed."},
		{"/model huge", "There is no model called huge. Choose one of these with /model NAME:\n\n" + list},
		{"/model deep high please", "There is no model called deep high please. Choose one of these with /model NAME:\n\n" + list},
		{"/model Deep HIGH", "From now on, deep (claude-sonnet-5, effort high) answers here."},
		{"and now?", "From deep."},
		{"/model low", "From now on, deep (claude-sonnet-5, effort low) answers here."},
		{"and now?", "From deep."},
		{"/model low", "From now on, deep (claude-sonnet-5, effort low) answers here."},
		{"/language zh", "从现在起，这里的提示语使用中文。回答的语言跟随你的消息。"},
		{"/model deep huge", "deep（claude-sonnet-5）的思考强度可以是 off、low、medium、high、xhigh、max。未做任何更改。"},
		{"/model main high", "main（main-1）的思考强度不能选择。未做任何更改。"},
	} {
		if got := c.say(t, 1, 1, step.say, nil); got != step.want {
			t.Errorf("%q was answered %q, want %q", step.say, got, step.want)
		}
	}
	if got := labelled(t, c.h, "sma_prompt_prefix_broken_total", "cause"); got["model"] != 1 || got["effort"] != 1 {
		t.Errorf("broken prefixes: %v, want one by the model and one by the effort", got)
	}
	c.stop(t)
	c.start(t)
	if got := c.say(t, 1, 1, "/status", nil); !strings.Contains(got, "模型：claude-sonnet-5，思考强度 low\n") {
		t.Errorf("the status says %q", got)
	}
	c.say(t, 1, 1, "still there?", nil)
	if doc, err := c.h.desk().Chat(t.Context(), query.Asked{ChatKey: "telegram-chat-1"}); err != nil || doc.Model != "deep" || doc.Effort != "low" {
		t.Errorf("the chat is shown with %q %q: %v", doc.Model, doc.Effort, err)
	}
	c.say(t, 1, 1, "/model deep", nil)
	c.say(t, 1, 1, "and now?", nil)
	if got, want := c.efforts(), []string{"high", "low", "low", ""}; !slices.Equal(got, want) {
		t.Errorf("asked to think %q, want %q", got, want)
	}
	// An effort that the model of new settings does not take is not used; it is again with the former ones.
	c.say(t, 1, 1, "/model off", nil)
	c.stop(t)
	known := c.flags["llm.choices"]
	c.flags["llm.choices"] = strings.Replace(known, "claude-sonnet-5", "claude-x", 1)
	c.start(t)
	if got := c.say(t, 1, 1, "/model", nil); !strings.HasPrefix(got, "这里使用的模型是 deep（claude-x）。") {
		t.Errorf("after new settings: %q", got)
	}
	c.say(t, 1, 1, "and now?", nil)
	c.stop(t)
	c.flags["llm.choices"] = known
	c.start(t)
	c.say(t, 1, 1, "and now?", nil)
	c.stop(t)
	if got, want := c.efforts(), []string{"high", "low", "low", "", "", "off"}; !slices.Equal(got, want) {
		t.Errorf("asked to think %q, want %q", got, want)
	}
}

// New settings of models take effect while the host runs, and so do the former ones again.
func TestModelsAreReplacedWhileRunning(t *testing.T) {
	c := newChosen(t)
	file := filepath.Join(c.dir, "ship.json")
	var flags atomic.Pointer[map[string]string]
	c.opts.Reload = func() (*config.Loaded, error) { return c.load(t, *flags.Load()), nil }
	before, after := `{"llm": {"models": {}}}`, `{"llm": {"models": {"claude-x": {"reasoningEffort": "low"}}}}`
	stdtest.Write(t, file, before)
	flags.Store(&c.flags)
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	for i, step := range []struct{ settings, model, want string }{{after, "deep", "From deep."}, {before, "main", "From main."}} {
		next := maps.Clone(c.flags)
		if step.model == "deep" {
			next["llm.model"], next["llm.api"] = "claude-x", "messages"
			_, rest, _ := strings.Cut(next["llm.choices"], `"baseUrl": "`)
			next["llm.baseUrl"], _, _ = strings.Cut(rest, `"`)
		}
		flags.Store(&next)
		stdtest.Write(t, file, step.settings)
		faketest.Poll(t, "the new models", func() bool { return strings.Count(c.log.String(), "the models have changed") > i })
		if got := c.say(t, 1, 1, "who answers?", nil); got != step.want {
			t.Errorf("%s: %q", step.model, got)
		}
		if s := c.h.Status(t.Context()); len(s.Restart) > 0 {
			t.Errorf("%s: needs a restart for %v", step.model, s.Restart)
		}
	}
}

// A choice is for the next run: the one in progress ends with the model that it began with, and says so.
func TestModelIsChosenForTheNextRun(t *testing.T) {
	release := make(chan struct{})
	c := newChosen(t)
	slow := modeltest.NewServer(modeltest.NewScript(modeltest.Held(release, modeltest.Say("From slow."))), modeltest.ServerOptions{})
	t.Cleanup(slow.Close)
	c.flags["llm.baseUrl"] = slow.URL
	c.start(t)
	c.api.Say(1, 1, "think well", nil)
	faketest.Poll(t, "the request", func() bool { return len(slow.Bodies()) == 1 })
	if got := c.say(t, 1, 1, "/model deep", nil); got != "From now on, deep (claude-x) answers here." {
		t.Errorf("during a run: %q", got)
	}
	close(release)
	c.api.Await(t, "the answer", func() bool { return len(c.api.Sent(1)) == 2 })
	if got := c.say(t, 1, 1, "and now?", nil); got != "From deep." {
		t.Errorf("the next run: %q", got)
	}
	c.stop(t)
	history := allText(t, filepath.Join(c.dir, ".ship", "chat", "telegram-chat-1", "messages"))
	slowly, deeply := strings.Index(history, `"model":"main-1"`), strings.Index(history, `"model":"claude-x"`)
	if slowly < 0 || deeply < slowly {
		t.Errorf("the history does not say who answered: %s", history)
	}
}

// A run asks in all its steps for the effort that it began with.
func TestEffortIsChosenForTheNextRun(t *testing.T) {
	release := make(chan struct{})
	c := newChosen(t)
	slow := modeltest.NewServer(modeltest.NewScript(
		modeltest.Held(release, modeltest.CallTools(modeltest.Call{ID: "c1", Name: "nothing", Input: "{}"})), modeltest.Say("Done."), modeltest.Say("Again."),
	), modeltest.ServerOptions{})
	t.Cleanup(slow.Close)
	c.flags["llm.baseUrl"], c.flags["llm.model"] = slow.URL, "gpt-oss-20b"
	c.start(t)
	c.say(t, 1, 1, "/model high", nil)
	c.api.Say(1, 1, "think well", nil)
	faketest.Poll(t, "the request", func() bool { return len(slow.Bodies()) == 1 })
	c.say(t, 1, 1, "/model low", nil)
	close(release)
	c.api.Await(t, "the answer", func() bool { return len(c.api.Sent(1)) == 3 })
	c.say(t, 1, 1, "and now?", nil)
	c.stop(t)
	var asked []string
	for _, body := range slow.Bodies() {
		var b struct {
			Effort string `json:"reasoning_effort"`
		}
		stdtest.Must(t, json.Unmarshal(body, &b))
		asked = append(asked, b.Effort)
	}
	if want := []string{"high", "high", "low"}; !slices.Equal(asked, want) {
		t.Errorf("asked to think %q, want %q", asked, want)
	}
}

// Only the owner chooses the model of a group, with a message of their own.
func TestModelOfAGroup(t *testing.T) {
	c := newChosen(t)
	c.flags["adapters.telegram.access"] = "paired"
	c.flags["llm.choices"] = strings.Replace(c.flags["llm.choices"], "claude-x", "claude-sonnet-5", 1)
	c.api.AddChat(telegramtest.Chat{ID: -5, Type: "supergroup", Title: "Team"})
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	summary, err := c.h.Summary(t.Context())
	stdtest.Must(t, err)
	const owner, member, forbidden = 1, 2, "Only a message of your own can choose the model, and in a group only my owner can. Nothing was changed."
	at := "@" + telegramtest.BotName
	c.say(t, 1, owner, "/start "+summary.OwnerCode, nil)
	c.say(t, -5, owner, "/allow"+at, nil)
	forwarded := map[string]any{"forward_origin": map[string]any{"type": "user", "date": 1, "sender_user": map[string]any{"id": member, "first_name": "Bob"}}}
	if got := c.say(t, -5, member, "/model"+at, nil); !strings.HasPrefix(got, "The model here is main (main-1).") {
		t.Errorf("the list for a member: %q", got)
	}
	if got := c.say(t, 1, owner, "/model deep high", forwarded); strings.HasPrefix(got, "From now on") {
		t.Errorf("a command that the owner forwarded: %q", got)
	}
	if got := c.say(t, -5, owner, "/model"+at+" deep high", nil); got != "From now on, deep (claude-sonnet-5, effort high) answers here." {
		t.Errorf("the owner: %q", got)
	}
	reply := map[string]any{"reply_to_message": map[string]any{"message_id": 1, "date": 1, "chat": map[string]any{"id": -5, "type": "supergroup"}, "from": map[string]any{"id": owner, "first_name": "Ann"}, "text": "/model deep low"}}
	for _, words := range []string{" deep", " deep", " deep low", " low"} {
		if got := c.say(t, -5, member, "/model"+at+words, reply); got != forbidden {
			t.Errorf("a member chooses%s: %q", words, got)
		}
	}
	if got := c.say(t, -5, owner, "/status"+at, nil); !strings.Contains(got, "model: claude-sonnet-5, effort high\n") {
		t.Errorf("the status: %q", got)
	}
}
