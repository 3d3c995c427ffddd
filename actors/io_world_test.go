package actors_test

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// wire is a host whose bot talks to a fake of the service, in simulated time and without sockets. The store and the
// service survive a kill.
type wire struct {
	t     *testing.T
	api   *telegramtest.API
	store *faulty
	model *modeltest.Script
	w     *actortest.World
	set   func(*telegram.Options)
	state string
	sends bool // there is a chat_send
	tools []tool.Tool
	// approver decides who may decide about requests; if it is nil, the default applies.
	approver func(approval.Claim) bool
	deciders func(approval.Claim) []approval.Decider
	grants   persistence.GrantStore // nil: nothing is allowed for a time
	end      func()
}

// newWire starts a bot; set changes its options. Every request to the model that
// is not scripted is answered with "ok".
func newWire(t *testing.T, set func(*telegram.Options)) *wire {
	t.Helper()
	x := &wire{t: t, api: telegramtest.NewAPIInProcess(t), store: newFaulty(filestoretest.New(t)), model: modeltest.NewScript(), set: set, state: t.TempDir()}
	ok := modeltest.Say("ok")
	x.model.Otherwise = &ok
	return x
}

// start starts the host, which newWire does not do.
func (x *wire) start() {
	x.t.Helper()
	o := telegram.Options{
		BotOptions: platform.BotOptions{
			BaseURL: x.api.URL(), Access: platform.AccessOpen, HTTPClient: x.api.Client(), StateDir: x.state, Egress: "direct", Drafts: "off",
		},
		Token: x.api.Token, Groups: platform.GroupsAll, RateLimit: "off",
	}
	if x.set != nil {
		x.set(&o)
	}
	bot, err := telegram.New(o)
	stdtest.Must(x.t, err)
	world := actortest.Options{Store: x.store, Model: x.model, Real: bot}
	world.Tools, world.Chat.MayDecide, world.Chat.Deciders = x.tools, x.approver, x.deciders
	if x.grants != nil {
		world.Chat.Grants, world.Rules = x.grants, run.NewRules(nil, nil)
	}
	if x.sends {
		world.Tools, world.Chat.MaxSends = actortest.Tools(actortest.Send()), 1000
	}
	x.w = actortest.New(x.t, world)
	ctx, cancel := context.WithCancel(x.t.Context())
	done := make(chan error, 1)
	go func() { done <- bot.Receive(ctx, x.w.Port) }()
	stopped := false
	x.end = func() {
		if stopped {
			return
		}
		stopped = true
		x.store.set(func(s *faulty) { s.dead = true }) // nothing is written any more
		cancel()
		if err := <-done; err != nil {
			x.t.Errorf("Receive: %v", err)
		}
		x.w.Kill()
	}
	x.t.Cleanup(x.end)
}

// again kills the host and starts another.
func (x *wire) again() {
	x.t.Helper()
	x.end()
	x.store.revive()
	x.start()
}

func (x *wire) later(d time.Duration) {
	<-time.After(d)
	x.w.Wait()
}

func (x *wire) chat(id int64) {
	kind := "private"
	if id < 0 {
		kind = "supergroup"
	}
	x.api.AddChat(telegramtest.Chat{ID: id, Type: kind, Title: "Chat"})
}

func keyOf(id int64) messages.ChatKey {
	return messages.NewChatKey("telegram", "", strconv.FormatInt(id, 10), 0)
}

// words are the user turns of a chat, in order.
func (x *wire) words(id int64) []string {
	x.t.Helper()
	var out []string
	for _, m := range x.w.View(keyOf(id)).Messages {
		for _, p := range m.Parts {
			if text, ok := p.(uimessage.Text); ok && m.Role == uimessage.RoleUser {
				out = append(out, text.Text)
			}
		}
	}
	return out
}

// shown are the texts that people see in a chat.
func (x *wire) shown(id int64) []string {
	var out []string
	for _, m := range x.api.Sent(id) {
		out = append(out, m.Text)
	}
	return out
}

// soak returns one of two counts: a small one, or a large one for long test runs.
func soak(few, many int) int {
	if os.Getenv("SOAK") != "" {
		return many
	}
	return few
}
