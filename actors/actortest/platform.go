package actortest

import (
	"context"
	"strconv"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Sent is one message that the platform displays.
type Sent struct {
	Chat    messages.ChatKey
	ID      string
	Text    string
	ReplyTo string
	Edits   int
	Order   int64 // its position among all messages
}

// Platform is a platform without a service: it keeps sent messages in a list.
type Platform struct {
	Caps platform.Capabilities
	// Fail, if set, may refuse a call.
	Fail func(op string, n int) error
	// Pace, if set, makes a call take time.
	Pace func(op, chat, text string)

	mu    sync.Mutex
	sent  []Sent
	calls int
	order int64
}

// Name implements platform.Platform.
func (*Platform) Name() string { return "telegram" }

// Capabilities implements platform.Platform. Every kind of file is accepted, unless Caps lists
// some.
func (p *Platform) Capabilities() platform.Capabilities {
	caps := p.Caps
	if caps.Files == nil {
		caps.Files = platform.FileKinds()
	}
	return caps
}

// Receive implements platform.Platform; tests deliver messages themselves.
func (*Platform) Receive(ctx context.Context, _ platform.Host) error {
	<-ctx.Done()
	return nil
}

// Plan implements platform.Sender: a part for every 4,096 bytes.
func (*Platform) Plan(out platform.Outbound) []platform.Part {
	var parts []platform.Part
	text := out.Text
	for len(text) > 4096 {
		parts = append(parts, platform.Part{Text: text[:4096], ReplyTo: out.ReplyTo})
		text = text[4096:]
	}
	return append(parts, platform.Part{Text: text, ReplyTo: out.ReplyTo})
}

// Send implements platform.Sender.
func (p *Platform) Send(_ context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	if p.Pace != nil {
		p.Pace("send", string(to.ChatKey), part.Text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.Fail != nil {
		if err := p.Fail("send", p.calls); err != nil {
			return messages.Receipt{}, err
		}
	}
	id := strconv.Itoa(len(p.sent) + 1000)
	order := p.next()
	p.sent = append(p.sent, Sent{Chat: to.ChatKey, ID: id, Text: part.Text, ReplyTo: part.ReplyTo, Order: order})
	return messages.Receipt{ID: id, Order: order}, nil
}

// next is the position of the next message among all.
func (p *Platform) next() int64 {
	p.order++
	return p.order
}

// Next is the position that a person's message gets now, in the same order as the bot's messages.
func (p *Platform) Next() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next()
}

// Edit implements platform.Editor.
func (p *Platform) Edit(_ context.Context, to platform.Target, id string, part platform.Part) error {
	if p.Pace != nil {
		p.Pace("edit", string(to.ChatKey), part.Text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.Fail != nil {
		if err := p.Fail("edit", p.calls); err != nil {
			return err
		}
	}
	for i := range p.sent {
		if p.sent[i].ID == id {
			p.sent[i].Text = part.Text
			p.sent[i].Edits++
		}
	}
	return nil
}

// Sent returns the messages that are displayed now, in the order they were sent.
func (p *Platform) Sent() []Sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Sent(nil), p.sent...)
}

// Texts returns the texts displayed in a chat.
func (p *Platform) Texts(key messages.ChatKey) []string {
	var out []string
	for _, s := range p.Sent() {
		if s.Chat == key {
			out = append(out, s.Text)
		}
	}
	return out
}

// Heal makes calls succeed from now on.
func (p *Platform) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Fail = nil
}

// Forget empties the list of sent messages and returns its length.
func (p *Platform) Forget() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.sent)
	p.sent = nil
	return n
}
