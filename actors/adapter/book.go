package adapter

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// book is what outlives a panic of the actor. Only the incarnation that is alive
// touches it, in Receive.
type book struct {
	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc

	rates platform.Rates
	lanes map[messages.ChatKey]*lane
	at    *lane // the lane that Receive is busy with; a panic leaves it set
	// receiver waits for the answer to the batch that Receive is busy with; a panic leaves it set.
	receiver *actor.PID
	calls    uint64
	back     time.Time // when the platform was last said to work

	closing bool       // the host stops: no call begins any more
	drainer *actor.PID // who waits for those under way; nil: nobody

	limits limits
	marks  marks
	line   []*lane // that only the account's limits hold back, in order
	lined  bool    // a look at the line is due
}

// newBook leaves the account's limit a margin, since sends of many chats at once
// do not arrive in the order and at the pace that they begin with.
func newBook(r platform.Rates) *book {
	all := platform.Rate{N: r.PerSender.N, Per: r.PerSender.Per + r.PerSender.Per/20}
	return &book{rates: r, lanes: map[messages.ChatKey]*lane{}, limits: limits{all: window{rate: all}}}
}

// lane finds or makes the lane of a chat.
func (b *book) lane(key messages.ChatKey, chatType string) *lane {
	l := b.lanes[key]
	if l == nil {
		addr, _ := key.Address()
		l = &lane{key: key, target: platform.Target{ChatKey: key, Chat: addr.Chat, Topic: addr.Topic}}
		b.lanes[key] = l
	}
	if chatType != "" {
		l.target.ChatType = chatType
	}
	l.chat.rate, l.group.rate = b.rates.PerChat, b.rates.PerGroup
	if !isGroup(l.target) {
		l.group.rate = platform.Rate{}
		if n := b.rates.Burst; n > 1 {
			l.chat.rate = platform.Rate{N: n * l.chat.rate.N, Per: time.Duration(n) * l.chat.rate.Per}
		}
	}
	b.at = l
	return l
}

// find is the lane of a chat, if there is one.
func (b *book) find(key messages.ChatKey) *lane {
	b.at = b.lanes[key]
	return b.at
}

// keys are those of all lanes, in an order of their own.
func (b *book) keys() []messages.ChatKey { return slices.Sorted(maps.Keys(b.lanes)) }

// nextCall numbers a call of the platform.
func (b *book) nextCall() uint64 {
	b.calls++
	return b.calls
}

// isGroup: negative ids are groups where the type is not known yet.
func isGroup(t platform.Target) bool {
	if t.ChatType == "" {
		return strings.HasPrefix(t.Chat, "-")
	}
	return messages.IsGroup(t.ChatType)
}
