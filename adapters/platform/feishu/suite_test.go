package feishu_test

import (
	"context"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
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
	return []messages.DecisionOutcome{{ApprovalID: say[0].ApprovalID, Is: messages.DecisionForbidden}}, nil // the buttons stay
}

func (d *decisions) all() []messages.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]messages.Decision(nil), d.list...)
}

// TestSuite runs the suite with an app that has all features, for both ways of receiving events.
func TestSuite(t *testing.T) {
	for name, link := range map[string]bool{"webhook": false, "connection": true} {
		t.Run(name, func(t *testing.T) {
			platformtest.Run(t, func(t *testing.T) platformtest.Harness {
				t.Helper()
				said := &decisions{}
				b := newBench(t, link, func(o *feishu.Options) { o.Drafts, o.Decide = feishu.DraftsCard, said.decide })
				h := b.harness(t, link)
				h.Press, h.Decided = b.pressing(t), said.all
				return h
			})
		})
	}
}

// TestSuiteOfAPlainApp runs it with an app whose optional features are switched off.
func TestSuiteOfAPlainApp(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		return newBench(t, false, func(o *feishu.Options) { o.Drafts, o.Rates = feishu.DraftsOff, platform.Rates{} }).harness(t, false)
	})
}

func (b *bench) harness(t *testing.T, link bool) platformtest.Harness {
	t.Helper()
	h := platformtest.Harness{
		Platform: b.bot, Chat: target(private), Limit: 4000, Shown: b.shown, Make: b.trouble, Repeat: b.api.Repeat, Files: platform.FileKinds(),
		Say: func(to platform.Target, text string) string { return b.api.Say(to.Chat, owner, text, nil) },
		Speak: func(to platform.Target) string {
			return b.api.SayFile(to.Chat, owner, "audio", "", []byte("OggS"), map[string]any{"duration": 3000})
		},
	}
	if link {
		h.Outage = func(on bool) {
			if on {
				b.api.Await(t, "a connection", func() bool { open, _ := b.api.Links(); return open > 0 })
				b.api.Fail(feishutest.Fault{Path: "/callback/ws/endpoint", Kind: faketest.ResetBefore, N: -1})
				b.api.CutLinks()
			} else {
				b.api.Heal()
			}
		}
	}
	return h
}

// pressing presses a button of the newest message that has buttons.
func (b *bench) pressing(t *testing.T) func(platform.Target, messages.Ask, bool) {
	t.Helper()
	return func(to platform.Target, ask messages.Ask, approve bool) {
		for _, m := range b.api.Sent(to.Chat) {
			for i, button := range b.api.Buttons(m.ID) {
				if button.Value["id"] != ask.ApprovalID || (i%2 == 0) != approve {
					continue
				}
				if _, err := b.api.Press(t.Context(), to.Chat, m.ID, owner, button.Value, nil); err != nil {
					t.Errorf("a button: %v", err)
				}
			}
		}
	}
}
