package telegram_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
)

type decisions struct {
	mu   sync.Mutex
	list []messages.Decision
}

func (d *decisions) decide(_ context.Context, _ messages.ChatKey, _ platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, say...)
	return []messages.DecisionOutcome{{ApprovalID: say[0].ApprovalID, Is: messages.DecisionDone}}, nil
}

func (d *decisions) all() []messages.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]messages.Decision(nil), d.list...)
}

// TestSuite runs the suite with a bot that has all features.
func TestSuite(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		said := &decisions{}
		b := newBench(t, func(o *telegram.Options) {
			o.Groups, o.Reactions, o.Decide = platform.GroupsAll, true, said.decide
		})
		h := b.harness()
		h.Press, h.Decided = b.pressed, said.all
		h.Marked = func(to platform.Target, id string) bool { return b.api.Reaction(number(to.Chat), number(id)) != "" }
		return h
	})
}

// TestSuiteOfAPlainBot runs it with a bot whose optional features are switched off.
func TestSuiteOfAPlainBot(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		return newBench(t, func(o *telegram.Options) {
			o.Groups, o.RateLimit, o.Drafts = platform.GroupsAll, "off", telegram.DraftsOff
		}).harness()
	})
}

// TestSuiteWithRichMessages runs it with a bot that sends formatted texts as rich messages, to a
// server that supports them and to one that does not.
func TestSuiteWithRichMessages(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run("known "+strconv.FormatBool(known), func(t *testing.T) {
			platformtest.Run(t, func(t *testing.T) platformtest.Harness {
				t.Helper()
				b := newBench(t, func(o *telegram.Options) { o.Groups, o.RichMessages = platform.GroupsAll, true })
				if !known {
					b.api.WithoutRich()
				}
				return b.harness()
			})
		})
	}
}

func (b *bench) harness() platformtest.Harness {
	topic := target(forum, 5)
	return platformtest.Harness{
		Platform: b.bot, Chat: target(private, 0), Topic: &topic, Limit: 4096,
		Say: b.say, Edit: b.edit, Shown: b.shown, Make: b.trouble, Files: platform.FileKinds(),
		Speak: func(to platform.Target) string {
			voice := map[string]any{"voice": map[string]any{"file_id": "v", "file_unique_id": "u", "duration": 3}, "text": nil}
			return strconv.FormatInt(b.api.Say(number(to.Chat), owner, "", voice), 10)
		},
		Repeat: func() { b.api.Redeliver(1000) },
		Outage: func(on bool) {
			if on {
				b.api.Fail(telegramtest.Fault{Method: "getMe", Kind: faketest.ResetBefore, N: -1})
				b.api.Fail(telegramtest.Fault{Method: "getUpdates", Kind: faketest.ResetBefore, N: -1})
				b.api.SetWebhook("") // ends the poll in progress
			} else {
				b.api.Heal()
			}
		},
	}
}

// pressed presses a button of the newest message that has buttons.
func (b *bench) pressed(to platform.Target, ask messages.Ask, approve bool) {
	for _, m := range b.api.Sent(number(to.Chat)) {
		for _, row := range m.Buttons {
			for i := 1; i < len(row); i += 2 {
				if yes := strings.HasPrefix(row[i], "y:"); yes == approve && strings.Contains(row[i], ask.ApprovalID) {
					b.api.Press(number(to.Chat), owner, m.ID, row[i], nil)
				}
			}
		}
	}
}
