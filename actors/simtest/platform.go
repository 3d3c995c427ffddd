package simtest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// shown is a message that people can see.
type shown struct {
	key   messages.ChatKey
	id    string
	text  string
	order int64
	kept  bool // its receipt is durable
	lost  bool // its receipt was lost by a crash or a failure that hid the effect
}

// sent is all that people can see, on the platform's side.
type sent struct {
	sim  *Sim
	list []*shown
	byID map[string]*shown
	// copies and excuses are by chat and text: how often it is displayed, and how many more copies
	// are allowed.
	copies, excuses map[string]int
	under           int // calls in progress
}

func newSent(s *Sim) *sent {
	return &sent{sim: s, byID: map[string]*shown{}, copies: map[string]int{}, excuses: map[string]int{}}
}

// receipt records that a message's id is durable.
func (s *sent) receipt(id string) {
	if m := s.byID[id]; m != nil {
		m.kept = true
	}
}

// crashed allows one more copy of what was displayed and not journaled.
func (s *sent) crashed() {
	for _, m := range s.list {
		if !m.kept && !m.lost {
			m.lost = true
			s.excuses[string(m.key)+"\n"+m.text]++
		}
	}
	s.under = 0
}

// show displays a part; once, except for allowed copies (P2).
func (s *sent) show(key messages.ChatKey, text string) *shown {
	m := &shown{key: key, id: "m" + itoa(len(s.list)+1), text: text, order: s.sim.place()}
	s.list, s.byID[m.id] = append(s.list, m), m
	at := string(key) + "\n" + text
	s.copies[at]++
	if s.sim.unique(text) && s.copies[at] > 1+s.excuses[at] {
		s.sim.failf("P2 %s: %q is visible %d times with %d excuses", key, text, s.copies[at], s.excuses[at])
	}
	s.sim.trace.addf("  shown %s %s %q", key, m.id, text)
	return m
}

// place is the position of the next message in the platform's order.
func (s *Sim) place() int64 {
	s.places++
	return s.places
}

// hidden records that the sender will not learn of an effect.
func (s *sent) hidden(m *shown) {
	m.lost = true
	s.excuses[string(m.key)+"\n"+m.text]++
}

// simPlatform is a process's side of the platform.
type simPlatform struct{ life *life }

func (simPlatform) Name() string { return "telegram" }

func (p simPlatform) Capabilities() platform.Capabilities {
	s := p.life.sim.setup
	return platform.Capabilities{Outbox: true, ToolEgress: s.toolEgress, Drafts: s.drafts, Rates: s.rates}
}

// Receive implements [platform.Platform]; the receiver is started elsewhere.
func (simPlatform) Receive(ctx context.Context, _ platform.Host) error {
	<-ctx.Done()
	return nil
}

// partLength is the longest part; long answers have several.
const partLength = 160

func (p simPlatform) Plan(out platform.Outbound) []platform.Part {
	if s := p.life.sim; s.faulty() && !out.Draft && s.chance(300) {
		s.fault("render panic", out.Text)
		panic("a fault in the renderer")
	}
	var parts []platform.Part
	text := []rune(out.Text)
	for len(text) > partLength {
		parts = append(parts, platform.Part{Text: string(text[:partLength]), ReplyTo: out.ReplyTo})
		text = text[partLength:]
	}
	return append(parts, platform.Part{Text: string(text), ReplyTo: out.ReplyTo})
}

var errScripted = errors.New("simulated")

func refused(reason platform.SendReason, retryable bool) *platform.Error {
	return &platform.Error{Reason: reason, Retryable: retryable, Err: errScripted}
}

func (p simPlatform) Send(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	l, s := p.life, p.life.sim
	name := "send " + string(to.ChatKey)
	if err := p.before(ctx, name); err != nil {
		return messages.Receipt{}, err
	}
	m := s.sent.show(to.ChatKey, part.Text)
	l.turn(name + " shown") // a crash may happen here
	if s.faulty() && s.chance(8) {
		s.fault("timeout after effect", m.id)
		s.sent.hidden(m)
		e := refused(platform.SendNetwork, true)
		e.Unknown = true
		return messages.Receipt{}, e
	}
	if s.faulty() && s.chance(10) {
		s.fault("delay", name)
		l.wait(name+" late", s.upTo(5*time.Second), ctx.Done())
	}
	return messages.Receipt{ID: m.id, Order: m.order}, nil
}

func (p simPlatform) Edit(ctx context.Context, to platform.Target, id string, part platform.Part) error {
	s := p.life.sim
	if err := p.before(ctx, "edit "+string(to.ChatKey)); err != nil {
		return err
	}
	m := s.sent.byID[id]
	if m != nil && s.faulty() && s.chance(30) {
		s.fault("message deleted", id)
		s.sent.copies[string(m.key)+"\n"+m.text]--
		delete(s.sent.byID, id)
		m = nil
	}
	if m == nil {
		return refused(platform.SendNotFound, false)
	}
	s.sent.copies[string(m.key)+"\n"+m.text]--
	m.text = part.Text
	s.sent.copies[string(m.key)+"\n"+m.text]++
	s.trace.addf("  edited %s %s %q", to.ChatKey, id, part.Text)
	p.life.turn("edit " + string(to.ChatKey) + " shown")
	return nil
}

// before is the start of a call, which may fail without effect.
func (p simPlatform) before(ctx context.Context, name string) error {
	l, s := p.life, p.life.sim
	l.turn(name)
	if !s.faulty() || !s.chance(3) {
		return nil
	}
	switch s.rnd.IntN(6) {
	case 0:
		s.fault("send 5xx", name)
		return refused(platform.SendServer, true)
	case 1:
		s.fault("send 429", name)
		e := refused(platform.SendRate, true)
		e.RetryAfter = s.upTo(10 * time.Second)
		return e
	case 2:
		if strings.HasPrefix(name, "edit") {
			return nil // a message that cannot be edited was deleted
		}
		s.fault("send refused", name)
		return refused(platform.SendForbidden, false)
	case 3:
		s.fault("send panic", name)
		panic("a fault in the platform")
	case 4:
		s.fault("network", name)
		return refused(platform.SendNetwork, true)
	default:
		s.fault("delay", name)
		if !l.wait(name+" on", s.upTo(20*time.Second), ctx.Done()) {
			return refused(platform.SendNetwork, true)
		}
		return nil
	}
}
