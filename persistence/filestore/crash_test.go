package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const crashKey messages.ChatKey = "crash-chat-1"

// soak reports whether the full counts are requested.
func soak() bool { return os.Getenv("SOAK") != "" }

// step is one call of a store in the life of a chat.
type step struct {
	name       string
	wake       bool
	rest       bool // followed by closing and opening
	turns      []uimessage.Message
	note       []journal.Record
	records    []journal.Record
	checkpoint *journal.Checkpoint
	rewrite    *journal.Rewrite
	reloaded   bool // loaded again first
}

func (s step) do(ctx context.Context, c persistence.Chat) error {
	switch {
	case s.wake:
		return c.Wake(ctx)
	case s.rest:
		return c.Rest(ctx)
	case s.turns != nil:
		return c.AppendHistory(ctx, s.turns...)
	case s.note != nil:
		return c.Note(ctx, s.note...)
	case s.records != nil:
		return c.Append(ctx, s.records...)
	case s.checkpoint != nil:
		return c.Checkpoint(ctx, *s.checkpoint)
	default:
		return c.Rewrite(ctx, *s.rewrite)
	}
}

// numbered returns the records that the step appends to the journal.
func (s step) numbered() []journal.Record { return slices.Concat(s.note, s.records) }

// view is everything that a chat's reader sees, as text.
type view struct {
	history, journal, ledger []string
	meta                     string
	marked                   bool
	archives                 map[string]string
	damage                   []journal.Damage
	turns                    []string // ids of the history
}

// look reads a chat again.
func look(ctx context.Context, marked bool, c persistence.Chat, archives []string) (view, error) {
	snap, err := c.Load(ctx)
	if err != nil {
		return view{}, err
	}
	v := view{marked: marked, damage: snap.Damage, archives: map[string]string{}, meta: fmt.Sprintf("%+v", snap.Meta)}
	for _, m := range snap.History {
		v.history = append(v.history, string(uimessage.AppendJSON(nil, m)))
		v.turns = append(v.turns, m.ID)
	}
	for _, r := range snap.Journal {
		v.journal = append(v.journal, string(journal.AppendRecord(nil, r)))
	}
	for e, err := range c.Ledger(ctx) {
		if err != nil {
			return v, err
		}
		v.ledger = append(v.ledger, string(journal.AppendLedgerEntry(nil, e)))
	}
	slices.Reverse(v.ledger)
	for _, id := range archives {
		a, err := c.ReadArchive(ctx, id)
		switch {
		case err == nil:
			v.archives[id] = strings.Join(archivedTexts(a), "\n")
		case !errors.Is(err, persistence.ErrNotFound):
			return v, err
		}
	}
	return v, nil
}

// marked reports whether the chat is marked for waking.
func marked(d *filestoretest.Disk) bool {
	_, err := d.Lstat(path.Join(filestoretest.Dir, "open", strconv.Itoa(int(chatpath.Shard(crashKey))), string(crashKey)))
	return err == nil
}

// archivedTexts are the turns of an archive, without the checksums of its lines.
func archivedTexts(a journal.Archive) []string {
	var out []string
	for _, l := range a.Lines {
		m, err := uimessage.Decode([]byte(l))
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		out = append(out, m.ID+fmt.Sprint(m.Parts))
	}
	return out
}

// life drives a chat through steps, on a disk and in a model, and checks after every operation on
// the disk what a power cut would leave.
type life struct {
	t       *testing.T
	options filestore.Options
	disk    *filestoretest.Disk
	model   *model
	limit   int // maximum number of states to check after one operation
	seed    uint64
	count   int // states checked
	points  int // operations after which states were checked

	step          step // in progress
	before, after view // what is acknowledged, and what will be
	notes         map[string]bool
	archives      []string
	lastSum       [3]uint64
}

func newLife(t *testing.T, limit int, seed uint64) *life {
	t.Helper()
	return &life{
		t: t, limit: limit, seed: seed, disk: filestoretest.NewDisk(), model: newModel(), notes: map[string]bool{},
		options: filestore.Options{LedgerBytes: 900},
	}
}

func (l *life) run(steps []step) {
	t, ctx := l.t, l.t.Context()
	t.Helper()
	s, err := filestoretest.Open(l.disk, l.options)
	must(t, err)
	c, err := s.OpenChat(ctx, crashKey)
	must(t, err)
	l.before, err = look(ctx, false, l.model, nil)
	must(t, err)
	for n, st := range steps {
		if st.rewrite != nil && st.rewrite.ArchiveID != "" {
			l.archives = append(l.archives, st.rewrite.ArchiveID)
		}
		must(t, st.do(ctx, l.model))
		l.step = st
		l.after, err = look(ctx, st.wake || !st.rest && l.before.marked, l.model, l.archives)
		must(t, err)
		l.disk.After(func(op filestoretest.Op) {
			if op.Changes() {
				l.crashes(fmt.Sprintf("step %d (%s), %v", n, st.name, op))
			}
		})
		if err := st.do(ctx, c); err != nil {
			t.Fatalf("step %d (%s): %v", n, st.name, err)
		}
		l.disk.After(nil)
		l.acknowledge()
		l.crashes(fmt.Sprintf("behind step %d (%s)", n, st.name))
		if st.rest {
			must(t, c.Close())
			c, err = s.OpenChat(ctx, crashKey)
			must(t, err)
		}
		if st.rest || st.reloaded {
			v, err := look(ctx, marked(l.disk), c, l.archives)
			must(t, err)
			if err := l.equal(v, l.before); err != nil {
				t.Fatalf("behind step %d (%s): %v", n, st.name, err)
			}
		}
	}
	must(t, s.Close())
}

// acknowledge notes that the step is durable from now on.
func (l *life) acknowledge() {
	switch {
	case l.step.records != nil || l.step.checkpoint != nil:
		clear(l.notes)
	case l.step.note != nil:
		for _, r := range l.step.note {
			l.notes[string(journal.AppendRecord(nil, r))] = true
		}
	}
	l.before, l.step = l.after, step{}
}

// crashes checks what a power cut would leave now.
func (l *life) crashes(where string) {
	l.t.Helper()
	sum := [3]uint64{l.disk.Crash(filestoretest.Nothing).Sum(), l.disk.Crash(filestoretest.Everything).Sum(), l.disk.Sum()}
	if sum == l.lastSum && l.step.name != "" {
		return // the same as after the operation before
	}
	l.lastSum = sum
	l.points++
	l.seed++
	for d := range l.disk.CrashStates(l.limit, l.seed) {
		l.count++
		if err := l.check(d, true); err != nil {
			l.t.Fatalf("%s, seed %d: %v\n%s", where, l.seed, err, dump(l.t, d))
		}
	}
}

// check opens the store on what a power cut left, compares it with what was acknowledged, repeats
// the step, and cuts the power a second time, once during the step and once after it.
func (l *life) check(d *filestoretest.Disk, again bool) error {
	ctx := l.t.Context()
	random := rand.New(rand.NewPCG(l.seed, uint64(l.count)))
	var halfway *filestoretest.Disk
	if again {
		left := 1 + random.IntN(45)
		d.After(func(filestoretest.Op) {
			if left--; left == 0 {
				halfway = d.Crash(random.IntN)
			}
		})
	}
	s, err := filestoretest.Open(d, l.options)
	if err != nil {
		return err
	}
	c, err := s.OpenChat(ctx, crashKey)
	if err != nil {
		return err
	}
	found, err := look(ctx, marked(d), c, l.archives)
	if err != nil {
		return err
	}
	if err := l.legal(found); err != nil {
		return fmt.Errorf("after the power cut: %w", err)
	}
	want, err := l.redo(ctx, c, found)
	if err != nil {
		return fmt.Errorf("the step again: %w", err)
	}
	d.After(nil)
	// The chat also continues: one more record is accepted.
	more := journal.Record{N: 1_000_000, TS: 1, Fact: journal.StopRequested{RunID: "more"}}
	if err := c.Append(ctx, more); err != nil {
		return fmt.Errorf("one more record: %w", err)
	}
	want.journal, want.marked = append(slices.Clone(want.journal), texts([]journal.Record{more})...), true
	d.PowerOff()
	if halfway != nil {
		if err := l.check(halfway, false); err != nil {
			return fmt.Errorf("a second power cut on the way: %w", err)
		}
	}
	return l.checkAgain(d.Crash(random.IntN), want)
}

// checkAgain compares the state after a second power cut with the expected one.
func (l *life) checkAgain(d *filestoretest.Disk, want view) error {
	ctx := l.t.Context()
	s, err := filestoretest.Open(d, l.options)
	if err != nil {
		return err
	}
	c, err := s.OpenChat(ctx, crashKey)
	if err != nil {
		return err
	}
	v, err := look(ctx, marked(d), c, l.archives)
	if err == nil {
		err = l.equal(v, want)
	}
	if err != nil {
		return fmt.Errorf("after a second power cut: %w", err)
	}
	return nil
}

// legal says what is wrong with a state, if anything.
func (l *life) legal(v view) error {
	for _, d := range v.damage {
		if d.Why != "torn tail" {
			return fmt.Errorf("damage: %+v", d)
		}
	}
	b, a := l.before, l.after
	journal := l.journal(v.journal)
	checkpointed := !journal && l.step.checkpoint != nil && slices.Equal(v.journal, a.journal)
	switch {
	case !l.historyLegal(v.history):
		return diff("history", b.history, a.history, v.history)
	case !slices.Equal(v.ledger, b.ledger) && !between(v.ledger, b.ledger, a.ledger):
		return diff("ledger", b.ledger, a.ledger, v.ledger)
	case v.meta != b.meta && v.meta != a.meta:
		return diff("meta", []string{b.meta}, []string{a.meta}, []string{v.meta})
	case !journal && !checkpointed:
		return diff("journal", b.journal, a.journal, v.journal)
	case checkpointed && (!slices.Equal(v.history, a.history) || !slices.Equal(v.ledger, a.ledger) || v.meta != a.meta):
		return fmt.Errorf("the journal was cut before all of it was moved out: %+v", v)
	case b.marked && !v.marked && !l.step.rest:
		return errors.New("the chat is not to be woken")
	}
	for id, text := range b.archives {
		if v.archives[id] != text {
			return fmt.Errorf("archive %q holds %q, want %q", id, v.archives[id], text)
		}
	}
	if r := l.step.rewrite; r != nil && !slices.Equal(v.history, b.history) && v.archives[r.ArchiveID] != a.archives[r.ArchiveID] {
		return errors.New("the history is rewritten and the archive is missing")
	}
	return nil
}

// journal reports whether records are those acknowledged and at most a prefix of those in progress.
func (l *life) journal(got []string) bool {
	rest := got
	for _, line := range l.before.journal {
		switch {
		case len(rest) > 0 && rest[0] == line:
			rest = rest[1:]
		case !l.notes[line]:
			return false
		}
	}
	return between(rest, nil, texts(l.step.numbered()))
}

func texts(records []journal.Record) []string {
	var out []string
	for _, r := range records {
		out = append(out, string(journal.AppendRecord(nil, r)))
	}
	return out
}

// between reports whether got is all of before, followed by a prefix of what after adds.
func between(got, before, after []string) bool {
	n := len(before)
	return len(got) >= n && len(got) <= len(after) && slices.Equal(got[:n], before) && slices.Equal(got[n:], after[n:len(got)])
}

// historyLegal accepts the old history, the new one, or, while turns are added, some of them.
func (l *life) historyLegal(got []string) bool {
	if slices.Equal(got, l.before.history) || slices.Equal(got, l.after.history) {
		return true
	}
	adds := l.step.turns
	if l.step.checkpoint != nil {
		adds = l.step.checkpoint.History
	}
	if len(adds) == 0 || len(got) < len(l.before.history) || len(got) > len(l.after.history) {
		return false
	}
	old := len(l.before.history)
	for i := range old {
		if got[i] != l.before.history[i] && got[i] != l.after.history[i] {
			return false
		}
	}
	return between(got[old:], nil, l.after.history[old:])
}

// redo repeats the step on a state and returns the expected result.
func (l *life) redo(ctx context.Context, c persistence.Chat, found view) (view, error) {
	want := l.after
	if l.step.name == "" {
		want = l.before
	}
	if err := c.Wake(ctx); err != nil {
		return want, err
	}
	st := l.step
	done := slices.Equal(found.journal, want.journal) && slices.Equal(found.history, want.history) && found.meta == want.meta
	if st.checkpoint == nil {
		want.journal = slices.Clone(found.journal) // without the lost notes
	}
	switch {
	case st.numbered() != nil:
		last := lastNumber(found.journal)
		var rest []journal.Record
		for _, r := range st.numbered() {
			if r.N > last {
				rest = append(rest, r)
			}
		}
		if err := c.Append(ctx, rest...); err != nil {
			return want, err
		}
		want.journal = append(want.journal, texts(rest)...)
	case st.turns != nil, st.checkpoint != nil && !done, st.rewrite != nil && !slices.Equal(found.history, want.history):
		if err := st.do(ctx, c); err != nil {
			return want, err
		}
	case st.rewrite != nil: // the meta may still be the old one
		want.meta = found.meta
		want.archives = found.archives
	}
	return want, nil
}

func lastNumber(lines []string) int64 {
	last := int64(0)
	for _, line := range lines {
		r, err := journal.ParseRecord([]byte(line))
		if err == nil {
			last = max(last, r.N)
		}
	}
	return last
}

// equal compares views, except for damage.
func (l *life) equal(got, want view) error {
	switch {
	case !slices.Equal(got.history, want.history):
		return diff("history", want.history, nil, got.history)
	case !slices.Equal(got.journal, want.journal):
		return diff("journal", want.journal, nil, got.journal)
	case !slices.Equal(got.ledger, want.ledger):
		return diff("ledger", want.ledger, nil, got.ledger)
	case got.meta != want.meta:
		return fmt.Errorf("meta is %s, want %s", got.meta, want.meta)
	case got.marked != want.marked:
		return fmt.Errorf("marked is %v, want %v", got.marked, want.marked)
	}
	for id, text := range want.archives {
		if got.archives[id] != text {
			return fmt.Errorf("archive %q holds %q, want %q", id, got.archives[id], text)
		}
	}
	return nil
}

func diff(what string, before, after, got []string) error {
	cut := func(lines []string) string {
		var out []string
		for _, l := range lines {
			out = append(out, l[:min(len(l), 150)])
		}
		return "\n\t" + strings.Join(out, "\n\t")
	}
	return fmt.Errorf("%s\nwas %s\nbecomes %s\nfound %s", what, cut(before), cut(after), cut(got))
}

// dump shows the files of a chat.
func dump(t *testing.T, d *filestoretest.Disk) string {
	t.Helper()
	return strings.Join(d.Files(), "\n")
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func crashAt() time.Time { return time.UnixMilli(1_700_000_000_123) }
