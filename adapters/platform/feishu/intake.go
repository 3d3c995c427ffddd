package feishu

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/spool"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// Chats set aside are tried again after asideFirst, then less often.
	asideFirst = time.Second
	asideMost  = 15 * time.Second
)

// arrival is a message with what the core is handed for it.
type arrival struct {
	event received
	in    platform.Inbound
}

// intake makes messages durable: with their chats, or on disk, set aside. It keeps
// the order of each chat and is safe for concurrent use.
type intake struct {
	p    *Platform
	host platform.Host

	mu    sync.Mutex
	spool *spool.Spool
	aside []arrival // in order; on disk
	lines map[messages.ChatKey][]*place

	more chan struct{} // something was set aside
	done chan struct{} // closed when the goroutine has ended; nil: none was begun
}

func newIntake(p *Platform, host platform.Host) *intake {
	return &intake{
		p: p, host: host, spool: spool.New(p.opts.StateDir), lines: map[messages.ChatKey][]*place{}, more: make(chan struct{}, 1),
	}
}

// open takes up what an earlier run has set aside and goes on trying until ctx ends.
func (in *intake) open(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	damaged, err := in.spool.Load(func(line []byte) error {
		event, err := decodeReceived(line)
		if err == nil {
			in.aside = append(in.aside, in.p.arrival(ctx, event))
		}
		return err
	})
	if damaged > 0 {
		in.p.log.Error("messages that were set aside could not be read; they are kept in a file of their own", "file", spool.File+spool.Damaged, "lines", damaged)
	}
	if err != nil {
		return err
	}
	in.changed()
	in.done = make(chan struct{})
	go in.again(ctx)
	return nil
}

// close waits until nothing is tried any more.
func (in *intake) close() {
	if in.done != nil {
		<-in.done
	}
}

// place is one in the line of a chat: messages are worked on one at a time, in the
// order that they came in.
type place struct {
	intake *intake
	key    messages.ChatKey
	turn   chan struct{} // closed when it is first
}

// stand takes the last place in the line of a chat. It has to be left.
func (in *intake) stand(key messages.ChatKey) *place {
	p := &place{intake: in, key: key, turn: make(chan struct{})}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.lines[key] = append(in.lines[key], p); len(in.lines[key]) == 1 {
		close(p.turn)
	}
	return p
}

// leave lets the next one go on.
func (p *place) leave() {
	p.intake.mu.Lock()
	defer p.intake.mu.Unlock()
	line := p.intake.lines[p.key]
	i := slices.Index(line, p)
	line = slices.Delete(line, i, i+1)
	if p.intake.lines[p.key] = line; len(line) == 0 {
		delete(p.intake.lines, p.key)
	} else if i == 0 {
		close(line[0].turn)
	}
}

// await waits until nobody stands in front.
func (p *place) await(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// deliver returns nil once a message is durable, with its chat or set aside. After
// an error the service brings it again. It is the message's turn.
func (in *intake) deliver(ctx context.Context, a arrival) error {
	began := time.Now()
	for tries := 0; ; tries++ {
		if behind, err := in.behind(a); behind {
			return err
		}
		err := in.offer(ctx, a)
		if err == nil {
			in.p.owe(ctx)
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) >= in.p.opts.Patience {
			return in.setAside(a, err)
		}
		retry.Wait(ctx, retry.Pause(tries))
	}
}

func (in *intake) offer(ctx context.Context, a arrival) error {
	results := in.host.Accept(ctx, []platform.Inbound{a.in})
	if len(results) != 1 {
		return platform.ErrUnavailable
	}
	return results[0].Err
}

// behind sets a message aside whose chat has others there already.
func (in *intake) behind(a arrival) (bool, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !slices.ContainsFunc(in.aside, func(x arrival) bool { return x.in.ChatKey == a.in.ChatKey }) {
		return false, nil
	}
	return true, in.add(a)
}

func (in *intake) setAside(a arrival, cause error) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.add(a); err != nil {
		in.p.log.Error("a message can be neither taken nor set aside; the service will bring it again", "chat_key", string(a.in.ChatKey), "error", err)
		return err
	}
	in.p.log.Error("a chat takes no messages; they are set aside while others go on", "chat_key", string(a.in.ChatKey), "error", cause)
	return nil
}

// add sets a message aside that is not yet. The lock is held.
func (in *intake) add(a arrival) error {
	if slices.ContainsFunc(in.aside, func(x arrival) bool { return x.in.IngressID == a.in.IngressID }) {
		return nil
	}
	fresh, err := eventLines([]arrival{a})
	if err != nil {
		return err
	}
	all, err := eventLines(in.aside)
	if err != nil {
		return err
	}
	if err := in.spool.Add(all, fresh); err != nil {
		return err
	}
	in.aside = append(in.aside, a)
	in.changed()
	return nil
}

// changed tells that something is set aside. The lock is held.
func (in *intake) changed() {
	in.p.metrics.parked.Set(float64(len(in.aside)))
	if len(in.aside) == 0 {
		return
	}
	select {
	case in.more <- struct{}{}:
	default:
	}
}

func eventLines(batch []arrival) ([][]byte, error) {
	out := make([][]byte, len(batch))
	for i, x := range batch {
		var err error
		if out[i], err = x.event.line(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// again tries the chats that were set aside until ctx ends.
func (in *intake) again(ctx context.Context) {
	defer close(in.done)
	for tries := 0; ctx.Err() == nil; tries++ {
		took, left := in.try(ctx)
		if took {
			tries = 0
		}
		if left == 0 {
			select {
			case <-ctx.Done():
			case <-in.more:
			}
			tries = 0
		}
		retry.Wait(ctx, min(asideMost, asideFirst<<min(tries, 5)))
	}
}

// try offers what is set aside, in order, and per chat no more after a refusal.
func (in *intake) try(ctx context.Context) (took bool, left int) {
	defer func() {
		if v := recover(); v != nil { // it goes on later
			in.p.log.Error("a panic while messages that were set aside were tried", "panic", fmt.Sprintf("%T", v))
			took, left = false, 1
		}
	}()
	in.mu.Lock()
	all := slices.Clone(in.aside)
	in.mu.Unlock()
	shut, gone := map[messages.ChatKey]bool{}, map[string]bool{}
	for _, x := range all {
		if !shut[x.in.ChatKey] {
			if in.offer(ctx, x) == nil {
				gone[x.in.IngressID] = true
			} else {
				shut[x.in.ChatKey] = true
			}
		}
	}
	return len(gone) > 0, in.taken(gone)
}

// taken forgets what chats have made durable and returns how many are left.
func (in *intake) taken(gone map[string]bool) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(gone) == 0 {
		return len(in.aside)
	}
	in.aside = slices.DeleteFunc(in.aside, func(x arrival) bool { return gone[x.in.IngressID] })
	in.p.metrics.parked.Set(float64(len(in.aside)))
	rest, err := eventLines(in.aside)
	if err == nil {
		err = in.spool.Replace(rest)
	}
	if err != nil {
		in.p.log.Error("the list of messages set aside cannot be written; chats will be asked about them once more", "error", err)
	}
	return len(in.aside)
}
