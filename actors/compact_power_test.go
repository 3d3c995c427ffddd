package actors_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// powerCuts examines a disk after every operation that changes it, in each state that a power cut may leave.
type powerCuts struct {
	t     *testing.T
	key   messages.ChatKey
	disk  *filestoretest.Disk
	limit int // states after one operation

	mu     sync.Mutex
	told   []string // words that were acknowledged, in their order
	asked  string   // the words that are being handed over
	last   uint64
	points int
	states int
	seen   map[string]int // what was found
	some   []*filestoretest.Disk
}

// ask records that these words are being sent.
func (p *powerCuts) ask(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = words
}

// acknowledged records that these words must exist from now on.
func (p *powerCuts) acknowledged(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told, p.asked = append(p.told, words), ""
}

// after examines all states after an operation.
func (p *powerCuts) after(op filestoretest.Op) {
	if !op.Changes() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.points++
	for d := range p.disk.CrashStates(p.limit, uint64(p.points)) {
		sum := d.Sum()
		if sum == p.last {
			continue
		}
		p.last = sum
		p.states++
		if p.states%97 == 0 {
			p.some = append(p.some, d)
		}
		if err := p.look(d); err != nil {
			p.t.Errorf("after operation %d, %v: %v", p.points, op, err)
			p.limit = 0
			return
		}
	}
}

// look reads the chat like the next process: everything acknowledged exists once and in order, and archives count only
// if something names them.
func (p *powerCuts) look(d *filestoretest.Disk) error {
	ctx := context.Background()
	s, err := filestoretest.Open(d, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // only read
	c, err := s.OpenChat(ctx, p.key)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	snap, err := c.Load(ctx)
	if err != nil {
		return err
	}
	p.seen["torn write"] += len(snap.Damage) // of what was not acknowledged, or it would be missed below
	state, err := journal.Replay(snap)
	if err != nil {
		return err
	}
	words, err := p.words(s, c, state)
	if err != nil {
		return err
	}
	want := p.told
	if len(words) == len(want)+1 && words[len(words)-1] == p.asked {
		want = append(slices.Clone(want), p.asked) // durable, and nobody has heard of it
	}
	if !slices.Equal(words, want) {
		return fmt.Errorf("(-want +got):\n%s", cmp.Diff(want, words))
	}
	return nil
}

// words returns the texts of all user turns: those of the history, of archives that summaries name, and of contexts
// that were left. A turn is in one of them.
func (p *powerCuts) words(s persistence.Store, c persistence.Chat, state *journal.State) ([]string, error) {
	ctx := context.Background()
	bySeq, twice := map[int64]string{}, error(nil)
	take := func(where string, turns []uimessage.Message, may bool) {
		for _, m := range turns {
			t := journal.NewTurn(m)
			if m.Role != uimessage.RoleUser {
				continue
			}
			if old, ok := bySeq[t.Meta.Seq]; ok && (!may || old != journal.Text(m)) {
				twice = errors.Join(twice, fmt.Errorf("%s: %q stands twice", where, journal.Text(m)))
			}
			bySeq[t.Meta.Seq] = journal.Text(m)
		}
	}
	follow := func(turns []uimessage.Message, may bool) error {
		for id := journal.ArchiveOf(turns); id != ""; {
			a, err := c.ReadArchive(ctx, id)
			if err != nil {
				return fmt.Errorf("a summary names %s: %w", id, err)
			}
			turns = nil
			for _, line := range a.Lines {
				m, err := uimessage.Decode([]byte(line))
				if err != nil {
					return err
				}
				turns = append(turns, m)
			}
			p.seen["archive"]++
			take(id, turns, may)
			id = journal.ArchiveOf(turns)
		}
		return nil
	}
	history := decision.ContentsOf(state.History)
	for _, t := range state.Lane {
		history = append(history, t.Message)
	}
	take("history", history, false)
	if err := errors.Join(follow(history, false), p.pointers(c, history)); err != nil {
		return nil, err
	}
	// A context that was left but not replaced yet, or was loaded again, has the same turns.
	items, err := s.Contexts(ctx, p.key)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		left, err := s.ReadContext(ctx, p.key, item.ID)
		if err != nil {
			return nil, fmt.Errorf("the index names context %s: %w", item.ID, err)
		}
		p.seen["context"]++
		take(item.ID, left.Messages, true)
		if err := follow(left.Messages, true); err != nil {
			return nil, err
		}
	}
	var words []string
	for seq := range state.Seq + 1 {
		if w, ok := bySeq[seq]; ok {
			words = append(words, w)
		}
	}
	return words, twice
}

// pointers checks that the placeholder of an output names an archive with the whole output.
func (p *powerCuts) pointers(c persistence.Chat, turns []uimessage.Message) error {
	for _, m := range turns {
		id := agedIn(m)
		if id == "" {
			continue
		}
		a, err := c.ReadArchive(context.Background(), id)
		if err != nil || len(a.Lines) != 1 || !strings.Contains(a.Lines[0], largeWord) {
			return fmt.Errorf("%s points to %s, which has %d lines: %w", m.ID, id, len(a.Lines), err)
		}
		p.seen["pointer"]++
	}
	return nil
}

// agedIn returns the archive that a turn names because its large outputs were left out.
func agedIn(m uimessage.Message) (id string) {
	for _, e := range journal.NewTurn(m).Meta.Extra {
		if e.Name == "aged" {
			id = strings.Trim(string(e.Value), `"`)
		}
	}
	return id
}

// largeWord is in every large output.
const largeWord = "whole-output"

// largeReply calls, on demand, a tool with a large output, or one that asks a person first, so that the turn has to
// stay. Otherwise it answers.
func largeReply(req model.Request) []model.Event {
	words := said(req.Messages)
	if strings.HasPrefix(words, "look") && req.Messages[len(req.Messages)-1].Role == "user" {
		return append(modeltest.CallEvents(modeltest.Call{ID: "c" + words, Name: "look", Input: `{}`}, modeltest.Call{ID: "d" + words, Name: "ask", Input: `{}`}), modeltest.Finish("tool-calls"))
	}
	return reply(req)
}

// The power fails after any operation on the disk, in any legal way, while real chats are compacted, move large outputs
// to the archive, begin new contexts and load old ones. The history is completely the old one or the new one, and
// nothing acknowledged is lost or duplicated. Hosts that start from such a state continue.
func TestCO1PowerCutInCompactionAndSwitch(t *testing.T) {
	limit := 3
	if soaking() {
		limit = 400
	}
	story := []string{
		"long a", "long b", "short c", "long d", "long e", "look", "short f", "/new Second", "long g", "short h", "long i", "/load 1",
		"long j", "short k", "/load 1", "long l", "long m", "/compact", "short n",
	}
	synctest.Test(t, func(t *testing.T) {
		disk := filestoretest.NewDisk()
		store, err := filestoretest.Open(disk, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
		stdtest.Must(t, err)
		p := &powerCuts{t: t, key: alice, disk: disk, limit: limit, seen: map[string]int{}}
		s := compacting(t, store, "2 2600")
		s.model.Otherwise = &modeltest.Step{Do: largeReply}
		s.o.Chat.Contexts = true
		s.o.Tools = append(s.o.Tools, largeTools()...)
		disk.After(p.after)
		for _, words := range story {
			if !strings.HasPrefix(words, "/") {
				p.ask(words)
			}
			s.world().Say(s.key, "alice", words)
			if !strings.HasPrefix(words, "/") {
				p.acknowledged(words)
			}
			s.w.Wait()
			<-time.After(3 * time.Second) // it rests
		}
		disk.After(nil)
		if n := len(s.sums.Requests()); n < 3 {
			t.Errorf("%d summaries", n)
		}
		s.w.Kill()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		for _, kind := range []string{"archive", "context", "pointer"} {
			if p.seen[kind] == 0 {
				t.Errorf("no state has: %s", kind)
			}
		}
		goOn(t, p)
		t.Logf("soak: row=CO1 operations=%d states=%d restarts=%d lost=0 mixed=0 %v", p.points, p.states, len(p.some), p.seen)
	})
}

// largeTools are a tool with a larger output than a chat may hold, and one that asks.
func largeTools() []tool.Tool {
	return []tool.Tool{
		actortest.Func{Says: tool.Spec{Name: "look", ReadOnly: true}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Output: []byte(`{"seen":"` + strings.Repeat(largeWord+" ", 500) + `"}`)}, nil
		}},
		actortest.Func{Says: tool.Spec{Name: "ask", Asks: true}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Output: []byte(`"done"`)}, nil
		}},
	}
}

// goOn starts a host from some of the states: the chat accepts and answers a message.
func goOn(t *testing.T, p *powerCuts) {
	t.Helper()
	for i, d := range p.some {
		store, err := filestoretest.Open(d, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
		stdtest.Must(t, err)
		s := compacting(t, store, "2 2600")
		s.model.Otherwise = &modeltest.Step{Do: largeReply}
		s.o.Tools = append(s.o.Tools, largeTools()...)
		s.world().Wait()
		in := s.w.Inbound(s.key, "alice", fmt.Sprint("and on ", i))
		in.IngressID, in.MessageID, in.RequestID = "new", "new", "new"
		if got, err := s.accept(in); got != "" || err != nil {
			t.Errorf("state %d: %q, %v", i, got, err)
		}
		s.w.Wait()
		if v := s.w.View(s.key); v.Counts.Open != 0 || v.Running || !slices.Contains(s.w.Platform.Texts(s.key), fmt.Sprint("re and on ", i)) {
			t.Errorf("state %d: %d open, running %t, texts %q", i, v.Counts.Open, v.Running, s.w.Platform.Texts(s.key))
		}
		if faults := append(s.model.Faults(), s.sums.Faults()...); len(faults) > 0 {
			t.Errorf("state %d: %v", i, faults)
		}
		s.w.Kill()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}
