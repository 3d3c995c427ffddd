package simtest

import (
	"context"
	"errors"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// Disk survives the process.
type Disk interface {
	// Open opens the store of a new process.
	Open() (persistence.Store, error)
	// Crash kills the process that has the store open; after a power cut, choose (a number below n)
	// decides what of the data that was not fsynced survives.
	Crash(power bool, choose func(n int) int)
	// Fault makes an operation of the disk under the store fail soon, with a fault chosen by its
	// number; it returns false if the disk has no faults.
	Fault(choose func(n int) int) (kind string, ok bool)
	// Heal ends the effect of Fault.
	Heal()
}

var (
	errInput = errors.New("k is missing")
	errGone  = errors.New("the process is gone")
	errIO    = errors.New("input/output error")
)

// disk is the store that the actors use: it fails as the seed decides, and informs the witness of
// what becomes durable.
type disk struct {
	persistence.Store
	mu   sync.Mutex // chats do operations concurrently
	life *life
}

func newDisk(l *life, s persistence.Store) *disk {
	d := &disk{life: l}
	d.Store = storetest.NewFaulty(s, func(op string, key messages.ChatKey, _ []journal.Record, do func() error) error {
		if err := d.plan(op, key); err != nil {
			return err
		}
		return do()
	})
	return d
}

// plan decides about an operation before the store gets it.
func (d *disk) plan(op string, key messages.ChatKey) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.life.sim
	switch {
	case s.looking:
		return nil
	case s.life != d.life || s.crash != "":
		return storetest.Broken(key, errGone)
	case s.dieIn > 0:
		if s.dieIn--; s.dieIn == 0 {
			s.crash = s.dieHow
			s.trace.addf("  dies before %s of %s", op, key)
			return storetest.Broken(key, errGone)
		}
	}
	if !s.faulty() || !s.chance(30) {
		return nil
	}
	switch s.rnd.IntN(5) {
	case 0, 1:
		s.fault("disk full", op+" "+string(key))
		return storetest.Full(key)
	case 2, 3:
		s.fault("disk error", op+" "+string(key))
		return storetest.Broken(key, errIO)
	default:
		s.fault("store panic", op+" "+string(key))
		s.witness(key).crashed = true
		panic("a fault in the store")
	}
}

func (d *disk) OpenChat(ctx context.Context, key messages.ChatKey) (persistence.Chat, error) {
	c, err := d.Store.OpenChat(ctx, key)
	if err != nil {
		d.life.sim.trace.addf("  %s does not open: %v", key, err)
		return nil, err
	}
	return &followed{Chat: c, w: d.life.sim.witness(key)}, nil
}

// followed is a chat's handle that reports its writes to the witness.
type followed struct {
	persistence.Chat
	w *witness
}

func (c *followed) Load(ctx context.Context) (journal.Snapshot, error) {
	snap, err := c.Chat.Load(ctx)
	c.w.loaded(snap, err)
	if err == nil {
		c.w.follow(c.ReadArchive)
	}
	return snap, err
}

func (c *followed) Append(ctx context.Context, records ...journal.Record) error {
	c.w.begin()
	err := c.Chat.Append(ctx, records...)
	c.w.appended(records, true, err)
	return err
}

func (c *followed) Note(ctx context.Context, records ...journal.Record) error {
	c.w.begin()
	err := c.Chat.Note(ctx, records...)
	c.w.appended(records, false, err)
	return err
}

func (c *followed) AppendHistory(ctx context.Context, turns ...uimessage.Message) error {
	c.w.begin()
	err := c.Chat.AppendHistory(ctx, turns...)
	c.w.added(turns, err)
	return err
}

func (c *followed) Checkpoint(ctx context.Context, f journal.Checkpoint) error {
	c.w.begin()
	err := c.Chat.Checkpoint(ctx, f)
	c.w.checkpointed(f, err)
	return err
}

func (c *followed) Rewrite(ctx context.Context, r journal.Rewrite) error {
	c.w.begin()
	err := c.Chat.Rewrite(ctx, r)
	c.w.rewritten(r, c.Chat, err)
	return err
}
