package botkit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/spool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Chats that were set aside are retried after asideFirst, then less often.
const (
	asideFirst = time.Second
	asideMost  = 15 * time.Second
)

// noRoom is what people see of a bot whose messages neither chats nor the disk take.
const noRoom = "messages cannot be stored"

// Arrival is an event of a service and the inbound made from it.
type Arrival[E any] struct {
	Event E
	In    platform.Inbound
}

// arrivalID identifies an arrival.
type arrivalID struct {
	chat messages.ChatKey
	id   string
}

func (a Arrival[E]) id() arrivalID { return arrivalID{a.In.ChatKey, a.In.IngressID} }

// minus returns a batch without some of its arrivals.
func minus[E any](batch, without []Arrival[E]) []Arrival[E] {
	gone := make(map[arrivalID]bool, len(without))
	for _, x := range without {
		gone[x.id()] = true
	}
	return slices.DeleteFunc(slices.Clone(batch), func(x Arrival[E]) bool { return gone[x.id()] })
}

// IntakeOptions configure an [Intake] for one platform. All are required except StateDir and
// Redelivers.
type IntakeOptions[E any] struct {
	Status *Status // of the receiver, with the host that messages are handed to
	// StateDir is the folder for messages set aside. If empty, none can be set aside.
	StateDir string
	// Patience is how long a chat may refuse messages before they are set aside.
	Patience time.Duration
	// Redelivers: the service redelivers what was not acknowledged. An arrival that can neither be
	// accepted nor set aside is then an error. Otherwise it is retried until one of the two works.
	Redelivers bool
	// Read decodes an event that was set aside, from the JSON encoding.
	Read func(line []byte) (E, error)
	// Map makes arrivals of the events that an earlier run set aside.
	Map      func(ctx context.Context, events []E) []Arrival[E]
	Now      func() time.Time
	SetAside prometheus.Gauge // number of messages set aside
	Log      *slog.Logger
}

// Intake hands messages to the host until they are durable: in their chats, or set aside on disk.
// A chat whose messages the host refuses for longer than its patience is set aside, in order, so that
// it does not block the others. It is retried until it accepts its messages, also after a restart.
// An Intake is safe for concurrent use, except for Open and Close.
type Intake[E any] struct {
	o IntakeOptions[E]

	mu    sync.Mutex
	spool *spool.Spool
	aside []Arrival[E]                         // in order; on disk
	chats map[messages.ChatKey]map[string]bool // the ids of aside
	full  bool                                 // messages could not be set aside, and wait at the service
	waits bool                                 // it was logged that messages are not taken

	more chan struct{} // signals that something was set aside
	done chan struct{} // closed when the goroutine has ended; nil before Open
}

// NewIntake does nothing until Open is called.
func NewIntake[E any](o IntakeOptions[E]) *Intake[E] {
	return &Intake[E]{o: o, spool: spool.New(o.StateDir), chats: map[messages.ChatKey]map[string]bool{}, more: make(chan struct{}, 1)}
}

// Open loads what an earlier run set aside and retries it until ctx ends. After the first success,
// calling it again does nothing.
func (in *Intake[E]) Open(ctx context.Context) error {
	if in.done != nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var events []E
	damaged, err := in.spool.Load(func(line []byte) error {
		e, err := in.o.Read(line)
		if err == nil {
			events = append(events, e)
		}
		return err
	})
	if damaged > 0 {
		in.o.Log.Error("messages that were set aside could not be read; they are kept in a separate file", "file", spool.File+spool.Damaged, "lines", damaged)
	}
	if err != nil {
		return err
	}
	for _, a := range in.o.Map(ctx, events) {
		in.keep(a)
	}
	if len(in.aside) > 0 {
		in.o.Log.Info("handling messages that were set aside", "messages", len(in.aside))
		in.more <- struct{}{}
	}
	in.done = make(chan struct{})
	go in.again(ctx)
	return nil
}

// Close waits until the retries have ended. The context of Open has to end first.
func (in *Intake[E]) Close() {
	if in.done != nil {
		<-in.done
	}
}

// Deliver returns nil once every arrival is durable, in its chat or set aside. Otherwise it returns
// the error of ctx, or one that asks the service to redeliver.
func (in *Intake[E]) Deliver(ctx context.Context, batch []Arrival[E]) error {
	since := in.o.Now()
	for tries := 0; ctx.Err() == nil; tries++ {
		rest, stuck, err := in.blocked(batch)
		if err != nil && in.o.Redelivers {
			return err
		}
		left, err := in.offer(ctx, rest)
		if batch = append(stuck, left...); len(batch) == 0 {
			in.moves()
			return nil
		}
		if tries == 0 {
			in.tell(len(batch), err)
		}
		if ctx.Err() == nil && in.o.Now().Sub(since) >= in.o.Patience {
			left, err = in.setAside(left, err)
			if err != nil && in.o.Redelivers {
				return err
			}
			if batch = append(stuck, left...); len(batch) == 0 {
				in.moves()
				return nil
			}
		}
		retry.Wait(ctx, retry.Pause(tries))
	}
	return ctx.Err()
}

// tell logs that messages are not taken, once until the next ones are: during an outage every message would say it.
func (in *Intake[E]) tell(waiting int, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.waits {
		in.waits = true
		in.o.Log.Warn("the host does not take messages now", "waiting", waiting, "error", err)
	}
}

// moves notes that a batch was taken or set aside.
func (in *Intake[E]) moves() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waits = false
	if in.full {
		in.full = false
		in.o.Status.Set(true, "")
	}
}

// offer hands a batch over once. For each chat it returns everything from the first refusal on, to
// keep the order. Messages accepted after a refusal are recognized as duplicates later.
func (in *Intake[E]) offer(ctx context.Context, batch []Arrival[E]) (left []Arrival[E], err error) {
	if len(batch) == 0 {
		return nil, nil
	}
	inbounds := make([]platform.Inbound, len(batch))
	for i, x := range batch {
		inbounds[i] = x.In
	}
	results := in.o.Status.Host.Accept(ctx, inbounds)
	refused := map[messages.ChatKey]bool{}
	for i, x := range batch {
		switch {
		case i >= len(results):
			err = platform.ErrUnavailable
		case results[i].Err != nil:
			err = results[i].Err
		case !refused[x.In.ChatKey]:
			continue
		}
		refused[x.In.ChatKey] = true
		left = append(left, x)
	}
	return left, err
}

// blocked sets aside messages of chats that are already set aside. It returns the rest, and what
// could not be set aside.
func (in *Intake[E]) blocked(batch []Arrival[E]) (rest, stuck []Arrival[E], err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.aside) == 0 {
		return batch, nil, nil
	}
	var join []Arrival[E]
	for _, x := range batch {
		if in.chats[x.In.ChatKey] != nil {
			join = append(join, x)
		} else {
			rest = append(rest, x)
		}
	}
	if err = in.add(join); err != nil {
		stuck = join
	}
	return rest, stuck, err
}

// setAside makes messages durable outside their chats, and returns those for which that failed.
func (in *Intake[E]) setAside(batch []Arrival[E], cause error) ([]Arrival[E], error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.add(batch); err != nil {
		return batch, err
	}
	for _, x := range batch {
		in.o.Log.Error("a chat accepts no messages; they are set aside, and other chats continue", "chat_key", string(x.In.ChatKey), "error", cause)
	}
	return nil, nil
}

// notAside returns the arrivals of a batch that are not set aside. The caller holds the lock.
func (in *Intake[E]) notAside(batch []Arrival[E]) []Arrival[E] {
	return slices.DeleteFunc(slices.Clone(batch), func(x Arrival[E]) bool { return in.chats[x.In.ChatKey][x.In.IngressID] })
}

// add sets aside the messages that are not yet set aside. The caller holds the lock.
func (in *Intake[E]) add(batch []Arrival[E]) error {
	batch = in.notAside(batch)
	if len(batch) == 0 {
		return nil
	}
	more, err := eventLines(batch)
	if err != nil {
		return err
	}
	if err := in.spool.Add(more, len(in.aside), func() ([][]byte, error) { return eventLines(in.aside) }); err != nil {
		if !in.full {
			in.o.Log.Error("messages cannot be set aside; they wait at the service", "messages", len(batch), "error", err)
		}
		in.full = true
		in.o.Status.Set(false, noRoom)
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

func (in *Intake[E]) keep(x Arrival[E]) {
	in.aside = append(in.aside, x)
	in.mark(x)
	in.o.SetAside.Set(float64(len(in.aside)))
}

func (in *Intake[E]) mark(x Arrival[E]) {
	if in.chats[x.In.ChatKey] == nil {
		in.chats[x.In.ChatKey] = map[string]bool{}
	}
	in.chats[x.In.ChatKey][x.In.IngressID] = true
}

// eventLines encodes events for the spool.
func eventLines[E any](batch []Arrival[E]) ([][]byte, error) {
	out := make([][]byte, len(batch))
	for i, x := range batch {
		var err error
		if out[i], err = json.Marshal(x.Event); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// again retries the chats that were set aside until ctx ends. It runs separately from new arrivals,
// so that a chat that hangs does not block anything else.
func (in *Intake[E]) again(ctx context.Context) {
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

func (in *Intake[E]) waiting() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.aside)
}

// try offers the first message of each chat that is set aside and, if it is accepted, the rest. It
// reports whether anything was accepted.
func (in *Intake[E]) try(ctx context.Context) (took bool) {
	defer func() {
		if v := recover(); v != nil { // it is retried later
			in.o.Log.Error("a panic while messages that were set aside were tried", "panic", fmt.Sprintf("%T", v))
		}
	}()
	in.mu.Lock()
	all := slices.Clone(in.aside)
	in.mu.Unlock()
	var heads []Arrival[E]
	seen, shut := map[messages.ChatKey]bool{}, map[messages.ChatKey]bool{}
	for _, x := range all {
		if !seen[x.In.ChatKey] {
			seen[x.In.ChatKey] = true
			heads = append(heads, x)
		}
	}
	left, _ := in.offer(ctx, heads)
	for _, x := range left {
		shut[x.In.ChatKey] = true
	}
	if len(left) == len(heads) {
		return false
	}
	open := slices.DeleteFunc(all, func(x Arrival[E]) bool { return shut[x.In.ChatKey] })
	left, _ = in.offer(ctx, minus(open, heads))
	in.remove(minus(open, left))
	return true
}

// remove removes messages that their chats have made durable.
func (in *Intake[E]) remove(gone []Arrival[E]) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.aside = minus(in.aside, gone)
	clear(in.chats)
	for _, x := range in.aside {
		in.mark(x)
	}
	in.o.SetAside.Set(float64(len(in.aside)))
	rest, err := eventLines(in.aside)
	if err == nil {
		err = in.spool.Replace(rest)
	}
	if err != nil {
		in.o.Log.Error("the list of messages set aside cannot be written; chats will be asked about them once more", "error", err)
	}
}
