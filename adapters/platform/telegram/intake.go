package telegram

import (
	"context"
	"encoding/json"
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
	// asideAfter is how long chats that the host refuses hold up the others.
	asideAfter = 2 * time.Second
	// Chats set aside are tried again after asideFirst, then less often.
	asideFirst = time.Second
	asideMost  = 15 * time.Second
)

// arrival is an update with what the core is handed for it.
type arrival struct {
	update update
	in     platform.Inbound
}

// arrivalID is what arrivals are told apart by.
type arrivalID struct {
	chat messages.ChatKey
	id   string
}

func (a arrival) id() arrivalID { return arrivalID{a.in.ChatKey, a.in.IngressID} }

// minus is a batch without some.
func minus(batch, without []arrival) []arrival {
	gone := make(map[arrivalID]bool, len(without))
	for _, x := range without {
		gone[x.id()] = true
	}
	return slices.DeleteFunc(slices.Clone(batch), func(x arrival) bool { return gone[x.id()] })
}

// intake hands inbounds to the host until they are durable: with their chats, or
// on disk, set aside. It is safe for concurrent use.
type intake struct {
	p    *Platform
	host platform.Host

	mu    sync.Mutex
	spool *spool.Spool
	aside []arrival // in order; on disk
	chats map[messages.ChatKey]int
	told  bool // that nothing can be set aside

	more chan struct{} // something was set aside
	done chan struct{} // closed when the goroutine has ended; nil: none was begun
}

func newIntake(p *Platform, host platform.Host) *intake {
	return &intake{
		p: p, host: host, spool: spool.New(p.opts.StateDir), chats: map[messages.ChatKey]int{}, more: make(chan struct{}, 1),
	}
}

// open takes up what an earlier run has set aside, once, and goes on trying until ctx ends.
func (in *intake) open(ctx context.Context, arrivals func([]update) []arrival) error {
	if in.done != nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var updates []update
	damaged, err := in.spool.Load(func(line []byte) error {
		var u update
		err := json.Unmarshal(line, &u)
		if err == nil {
			updates = append(updates, u)
		}
		return err
	})
	if damaged > 0 {
		in.p.log.Error("messages that were set aside could not be read; they are kept in a file of their own", "file", spool.File+spool.Damaged, "lines", damaged)
	}
	if err != nil {
		return err
	}
	for _, a := range arrivals(updates) {
		in.keep(a)
	}
	if len(in.aside) > 0 {
		in.p.log.Info("going on with messages that were set aside", "messages", len(in.aside))
		in.more <- struct{}{}
	}
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

// deliver returns nil once each arrival is durable, with its chat or set aside,
// and otherwise the error of ctx. While nobody is served nothing is set aside,
// unless held is nil: then the service does not wait for long. held gives what
// waits at the service behind the batch: with nothing else at hand, it tells
// whether the host takes messages at all.
func (in *intake) deliver(ctx context.Context, batch []arrival, held func() []arrival) error {
	since, takes := in.p.opts.Now(), held == nil
	for tries := 0; ctx.Err() == nil; tries++ {
		rest, stuck := in.behind(batch)
		left, err := in.offer(ctx, rest)
		takes = takes || len(left) < len(rest)
		if batch = append(stuck, left...); len(batch) == 0 {
			return nil
		}
		if tries == 0 {
			in.p.log.Warn("the host does not take messages now", "waiting", len(batch), "error", err)
		}
		if ctx.Err() == nil && in.p.opts.Now().Sub(since) >= asideAfter && (takes || in.takesOthers(ctx, batch, held())) {
			in.setAside(left, err)
			batch = append(stuck, in.notAside(left)...)
			if len(batch) == 0 {
				return nil
			}
		}
		retry.Wait(ctx, retry.Pause(tries))
	}
	return ctx.Err()
}

// takesOthers offers messages of chats that have none in the batch and tells
// whether one was taken.
func (in *intake) takesOthers(ctx context.Context, batch, others []arrival) bool {
	stuck := map[messages.ChatKey]bool{}
	for _, x := range batch {
		stuck[x.in.ChatKey] = true
	}
	in.mu.Lock()
	others = slices.DeleteFunc(others, func(x arrival) bool { return stuck[x.in.ChatKey] || in.chats[x.in.ChatKey] > 0 })
	in.mu.Unlock()
	left, _ := in.offer(ctx, others)
	return len(left) < len(others)
}

// offer hands a batch over once. What is left is, per chat, all from the first
// refusal on, so that order holds; what was taken after it is known as a duplicate.
func (in *intake) offer(ctx context.Context, batch []arrival) (left []arrival, err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	inbounds := make([]platform.Inbound, len(batch))
	for i, x := range batch {
		inbounds[i] = x.in
	}
	results := in.host.Accept(ctx, inbounds)
	refused := map[messages.ChatKey]bool{}
	for i, x := range batch {
		switch {
		case i >= len(results):
			err = platform.ErrUnavailable
		case results[i].Err != nil:
			err = results[i].Err
		case !refused[x.in.ChatKey]:
			continue
		}
		refused[x.in.ChatKey] = true
		left = append(left, x)
	}
	return left, err
}

// behind sets aside what belongs to chats that are set aside, and returns the
// rest and what could not be set aside.
func (in *intake) behind(batch []arrival) (rest, stuck []arrival) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.aside) == 0 {
		return batch, nil
	}
	var join []arrival
	for _, x := range batch {
		if in.chats[x.in.ChatKey] > 0 {
			join = append(join, x)
		} else {
			rest = append(rest, x)
		}
	}
	if in.add(join) != nil {
		stuck = join
	}
	return rest, stuck
}

// setAside makes messages durable beside their chats, if the disk lets it.
func (in *intake) setAside(batch []arrival, cause error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	err := in.add(batch)
	if err != nil && !in.told {
		in.p.log.Error("messages cannot be set aside; they wait at the service", "messages", len(batch), "error", err)
	}
	if in.told = err != nil; in.told {
		return
	}
	for _, x := range batch {
		in.p.log.Error("a chat takes no messages; they are set aside while others go on", "chat_key", string(x.in.ChatKey), "error", cause)
	}
}

// notAside is what of a batch is not set aside.
func (in *intake) notAside(batch []arrival) []arrival {
	in.mu.Lock()
	defer in.mu.Unlock()
	return minus(batch, in.aside)
}

// add sets messages aside that are not yet. The lock is held.
func (in *intake) add(batch []arrival) error {
	batch = minus(batch, in.aside)
	if len(batch) == 0 {
		return nil
	}
	all, err := updateLines(in.aside)
	if err != nil {
		return err
	}
	more, err := updateLines(batch)
	if err != nil {
		return err
	}
	if err := in.spool.Add(all, more); err != nil {
		return err
	}
	for _, x := range batch {
		in.keep(x)
	}
	select {
	case in.more <- struct{}{}:
	default:
	}
	return nil
}

func (in *intake) keep(x arrival) {
	in.aside = append(in.aside, x)
	in.chats[x.in.ChatKey]++
	in.p.metrics.parked.Set(float64(len(in.aside)))
}

// updateLines are updates as the spool keeps them.
func updateLines(batch []arrival) ([][]byte, error) {
	out := make([][]byte, len(batch))
	for i, x := range batch {
		var err error
		if out[i], err = json.Marshal(x.update); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// again tries the chats that were set aside until ctx ends. It is apart from what
// arrives, so that a chat that hangs holds nobody up.
func (in *intake) again(ctx context.Context) {
	defer close(in.done)
	for tries := 0; ctx.Err() == nil; tries++ {
		if in.try(ctx) {
			tries = 0
		}
		if in.waiting() == 0 {
			select {
			case <-ctx.Done():
			case <-in.more:
			}
			tries = 0
		}
		retry.Wait(ctx, min(asideMost, asideFirst<<min(tries, 5)))
	}
}

func (in *intake) waiting() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.aside)
}

// try offers the first message of each chat that is set aside and, where that is
// taken, the rest. It reports whether anything was taken.
func (in *intake) try(ctx context.Context) (took bool) {
	defer func() {
		if v := recover(); v != nil { // it goes on later
			in.p.log.Error("a panic while messages that were set aside were tried", "panic", fmt.Sprintf("%T", v))
		}
	}()
	in.mu.Lock()
	all := slices.Clone(in.aside)
	in.mu.Unlock()
	var heads []arrival
	seen, shut := map[messages.ChatKey]bool{}, map[messages.ChatKey]bool{}
	for _, x := range all {
		if !seen[x.in.ChatKey] {
			seen[x.in.ChatKey] = true
			heads = append(heads, x)
		}
	}
	left, _ := in.offer(ctx, heads)
	for _, x := range left {
		shut[x.in.ChatKey] = true
	}
	if len(left) == len(heads) {
		return false
	}
	open := slices.DeleteFunc(all, func(x arrival) bool { return shut[x.in.ChatKey] })
	left, _ = in.offer(ctx, minus(open, heads))
	in.taken(minus(open, left))
	return true
}

// taken forgets what chats have made durable.
func (in *intake) taken(gone []arrival) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.aside = minus(in.aside, gone)
	clear(in.chats)
	for _, x := range in.aside {
		in.chats[x.in.ChatKey]++
	}
	in.p.metrics.parked.Set(float64(len(in.aside)))
	rest, err := updateLines(in.aside)
	if err == nil {
		err = in.spool.Replace(rest)
	}
	if err != nil {
		in.p.log.Error("the list of messages set aside cannot be written; chats will be asked about them once more", "error", err)
	}
}
