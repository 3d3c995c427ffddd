package telegram

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// asideAfter is how long chats that the host refuses hold up the others.
	asideAfter = 10 * time.Second
	// asideEvery is how often a chat set aside is tried again.
	asideEvery = 15 * time.Second
	// maxAside is how many messages are set aside; then everything waits.
	maxAside = 1000
)

// intake hands inbounds to the host until they are durable.
type intake struct {
	p      *Platform
	host   platform.Host
	status *status
	aside  []platform.Inbound // in order; confirmed to the server, but not durable
	chats  map[messages.ChatKey]bool
	retry  time.Time
}

func newIntake(p *Platform, host platform.Host, s *status) *intake {
	return &intake{p: p, host: host, status: s, chats: map[messages.ChatKey]bool{}}
}

// patience is how long a poll may wait: less while chats are set aside.
func (in *intake) patience(usual time.Duration) time.Duration {
	if len(in.aside) > 0 {
		return min(usual, asideEvery)
	}
	return usual
}

// deliver returns once each inbound is durable or set aside, or with the error of
// ctx. peek gives what waits behind the batch: with nothing else at hand, it tells
// whether the host takes messages at all.
func (in *intake) deliver(ctx context.Context, batch []platform.Inbound, peek func() []platform.Inbound) error {
	in.again(ctx)
	in.makeRoom(ctx)
	batch = in.behind(batch)
	since, takes := in.p.opts.Now(), false
	for tries := 0; len(batch) > 0 && ctx.Err() == nil; tries++ {
		left, err := in.offer(ctx, batch)
		takes = takes || len(left) < len(batch)
		if batch = left; len(batch) == 0 || ctx.Err() != nil {
			break
		}
		if tries == 0 {
			in.p.log.Warn("the host does not take messages now", "waiting", len(batch), "error", err)
		}
		if in.p.opts.Now().Sub(since) >= asideAfter && (takes || in.takesOthers(ctx, batch, peek())) {
			in.setAside(batch, err)
			return nil
		}
		wait(ctx, backoff(tries))
	}
	return ctx.Err()
}

// takesOthers offers messages of chats that have none in the batch and tells
// whether one was taken.
func (in *intake) takesOthers(ctx context.Context, batch, others []platform.Inbound) bool {
	stuck := map[messages.ChatKey]bool{}
	for _, x := range batch {
		stuck[x.ChatKey] = true
	}
	others = slices.DeleteFunc(others, func(x platform.Inbound) bool { return stuck[x.ChatKey] || in.chats[x.ChatKey] })
	left, _ := in.offer(ctx, others)
	return len(left) < len(others)
}

// makeRoom waits until not too much is set aside.
func (in *intake) makeRoom(ctx context.Context) {
	for tries := 0; len(in.aside) >= maxAside && ctx.Err() == nil; tries++ {
		wait(ctx, backoff(tries))
		in.retry = time.Time{}
		in.again(ctx)
	}
}

// offer hands a batch over once. What is left is, per chat, all from the first
// refusal on, so that order holds; what was taken after it is known as a duplicate.
func (in *intake) offer(ctx context.Context, batch []platform.Inbound) (left []platform.Inbound, err error) {
	results := in.host.Accept(ctx, batch)
	refused := map[messages.ChatKey]bool{}
	for i := range batch {
		switch {
		case i >= len(results):
			err = platform.ErrUnavailable
		case results[i].Err != nil:
			err = results[i].Err
		case !refused[batch[i].ChatKey]:
			continue
		}
		refused[batch[i].ChatKey] = true
		left = append(left, batch[i])
	}
	return left, err
}

// behind queues what belongs to chats that are set aside and returns the rest.
func (in *intake) behind(batch []platform.Inbound) []platform.Inbound {
	if len(in.aside) == 0 {
		return batch
	}
	var rest []platform.Inbound
	for _, x := range batch {
		if in.chats[x.ChatKey] {
			in.aside = append(in.aside, x)
		} else {
			rest = append(rest, x)
		}
	}
	in.count()
	return rest
}

func (in *intake) setAside(batch []platform.Inbound, err error) {
	for _, x := range batch {
		in.chats[x.ChatKey] = true
		in.p.log.Error("a chat takes no messages; they are kept in memory while others go on", "chat_key", string(x.ChatKey), "error", err)
	}
	in.aside = append(in.aside, batch...)
	in.retry = in.p.opts.Now().Add(asideEvery)
	in.count()
}

// again tries the chats that were set aside, when it is time.
func (in *intake) again(ctx context.Context) {
	if len(in.aside) == 0 || in.p.opts.Now().Before(in.retry) {
		return
	}
	in.aside, _ = in.offer(ctx, in.aside)
	clear(in.chats)
	for _, x := range in.aside {
		in.chats[x.ChatKey] = true
	}
	in.retry = in.p.opts.Now().Add(asideEvery)
	in.count()
}

func (in *intake) count() { in.p.metrics.parked.Set(float64(len(in.aside))) }

// errAside: Receive ended before chats that were set aside took their messages.
var errAside = errors.New("messages of chats that took none were not stored")

func (in *intake) close() {
	for _, x := range in.aside {
		in.p.log.Error("a message was not stored", "chat_key", string(x.ChatKey), "message_id", x.MessageID, "error", errAside)
	}
}
