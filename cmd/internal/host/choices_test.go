package host

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/anthropictest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/config"
)

// chosen is a host with a main model, and another one of another protocol that people may choose.
type chosen struct {
	*project
	h     *Host
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
	main, deep := modeltest.NewServer(says("main"), modeltest.ServerOptions{}), anthropictest.NewServer(says("deep"), anthropictest.Options{})
	t.Cleanup(main.Close)
	t.Cleanup(deep.Close)
	t.Cleanup(func() {
		if faults := append(main.Faults(), deep.Faults()...); len(faults) > 0 {
			t.Errorf("requests that no service takes: %v", faults)
		}
	})
	c := &chosen{project: newProject(t)}
	c.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
	c.flags = telegramFlags(c.project)
	c.flags["adapters.telegram.egress"], c.flags["llm.baseUrl"], c.flags["llm.model"] = "direct", main.URL, "main-1"
	c.flags["llm.choices"] = `[{"name": "deep", "provider": "custom", "api": "messages", "model": "claude-x", "baseUrl": "` + deep.URL + `"}]`
	return c
}

func (c *chosen) start(t *testing.T) {
	t.Helper()
	c.h = c.prepare(t, c.opts, c.flags)
	if err := c.h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (c *chosen) stop(t *testing.T) {
	t.Helper()
	if err := c.h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// say says something and returns the answer.
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

// New settings of models take effect while the host runs, and so do the former ones again.
func TestModelsAreReplacedWhileRunning(t *testing.T) {
	c := newChosen(t)
	file := filepath.Join(c.dir, "ship.json")
	var flags atomic.Pointer[map[string]string]
	c.opts.Reload = func() (*config.Loaded, error) { return c.load(t, *flags.Load()), nil }
	before, after := `{"llm": {"models": {}}}`, `{"llm": {"models": {"claude-x": {"reasoningEffort": "low"}}}}`
	write(t, file, before)
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
		write(t, file, step.settings)
		eventually(t, "the new models", func() bool { return strings.Count(c.log.String(), "the models have changed") > i })
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
	eventually(t, "the request", func() bool { return len(slow.Bodies()) == 1 })
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

// Only the owner chooses the model of a group, with a message of their own.
func TestModelOfAGroup(t *testing.T) {
	c := newChosen(t)
	c.flags["adapters.telegram.access"] = "paired"
	c.api.AddChat(telegramtest.Chat{ID: -5, Type: "supergroup", Title: "Team"})
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	summary, err := c.h.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const owner, member, forbidden = 1, 2, "Only a message of your own can choose the model, and in a group only my owner can. Nothing was changed."
	at := "@" + telegramtest.BotName
	c.say(t, 1, owner, "/start "+summary.OwnerCode, nil)
	c.say(t, -5, owner, "/allow"+at, nil)
	forwarded := map[string]any{"forward_origin": map[string]any{"type": "user", "date": 1, "sender_user": map[string]any{"id": member, "first_name": "Bob"}}}
	if got := c.say(t, -5, member, "/model"+at+" deep", nil); got != forbidden {
		t.Errorf("a member: %q", got)
	}
	if got := c.say(t, -5, member, "/model"+at, nil); !strings.HasPrefix(got, "The model here is main (main-1).") {
		t.Errorf("the list for a member: %q", got)
	}
	if got := c.say(t, 1, owner, "/model deep", forwarded); strings.HasPrefix(got, "From now on") {
		t.Errorf("a command that the owner forwarded: %q", got)
	}
	if got := c.say(t, -5, owner, "/model"+at+" deep", nil); got != "From now on, deep (claude-x) answers here." {
		t.Errorf("the owner: %q", got)
	}
}
