package actors_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// bookWords are what may happen next in two chats.
var bookWords = []string{
	"say alice hi", "say alice hi", "say bob look here", "say alice look", "say carol and me",
	"bot robo beep", "ignored bob blah", "refused eve go away", "say alice /stop", "say alice /stop all", "say alice /help",
	"stop", "stop all", "again 1", "again 2", "edit alice 1 changed", "edit alice 3 changed too",
	"advance 400ms", "advance 3s", "advance 20m", "kill", "kill 15m", "rewind 0", "chat telegram-chat-1", "chat telegram-chat-2",
	"crash after turn", "crash before finish", "crash after merge", "fail store write full 2", "fail store history broken",
	"panics ingress open 1", "panics run started 2", "panics run done 1", "panics tool ok 1",
	"fail send 0 forbidden 1", "fail send 0 network 3", "retry all", "drop all",
}

// Every accepted ingress has exactly one fate or is open, in each chat and in the host's metrics, after every step of
// any story.
func TestP1ConservationAtEveryStep(t *testing.T) {
	checks, stories := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		if stories++; stories > plenty() {
			return
		}
		story := rapid.SliceOfN(rapid.SampledFrom(bookWords), 1, 30).Draw(rt, "story")
		mode := rapid.SampledFrom([]string{"merge", "followup", "interrupt"}).Draw(rt, "mode")
		fault := ""
		synctest.Test(t, func(t *testing.T) {
			s := newScenario(t, filestoretest.New(t))
			s.o.Chat.Mode, s.o.Chat.MaxQueued, s.o.Chat.FairToSenders, s.o.Idle = mode, 2, true, 2*time.Minute
			s.o.Tools = []tool.Tool{slowTool("look")}
			s.model.Otherwise = &modeltest.Step{Do: obvious}
			s.use("telegram-chat-1")
			for i, line := range append(story, "heal", "advance 30m") {
				verb, rest, _ := strings.Cut(line, " ")
				_, _ = s.do(verb, rest) // a story may ask for what cannot be: it changes nothing
				s.world()
				s.w.Wait()
				if s.store.dead {
					stdtest.Must(t, s.kill(""))
					s.w.Wait()
				}
				checks++
				if fault = s.books(); fault != "" {
					fault = fmt.Sprintf("after step %d, %s: %s", i+1, line, fault)
					return
				}
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
	t.Logf("soak: row=P1 stories=%d steps=%d broken=0", stories, checks)
}

// books says where the equation does not hold. A chat that waits for its restart is asked again once it is back,
// because before that its counts and those of the host are not from the same moment.
func (s *scenario) books() (fault string) {
	for range 5 {
		if fault = s.booksNow(); fault == "" {
			return ""
		}
		s.w.Wait()
	}
	return fault
}

func (s *scenario) booksNow() string {
	var open float64
	for _, key := range s.keys {
		v, err := s.w.Port.History(context.Background(), key)
		if err != nil {
			continue // its store is away; nothing is known of it
		}
		sum := v.Counts.Open
		for _, n := range v.Counts.Fates {
			sum += n
		}
		if sum != v.Counts.Accepted {
			return fmt.Sprintf("%s: %+v", key, v.Counts)
		}
		open += float64(v.Counts.Open)
	}
	accepted, recovered := s.w.Metric("sma_ingress_accepted_total"), s.w.Metric("sma_ingress_recovered")
	fates, gauge := s.metricSum("sma_ingress_fates_total"), s.w.Metric("sma_ingress_open")
	if accepted+recovered != fates+gauge || gauge != open {
		return fmt.Sprintf("accepted %v + recovered %v, fates %v + open %v; the chats have %v open", accepted, recovered, fates, gauge, open)
	}
	return ""
}

// metricSum adds a metric up over its labels; one that was never touched is zero.
func (s *scenario) metricSum(name string) (sum float64) {
	s.t.Helper()
	families, err := s.w.Registry.Gather()
	stdtest.Must(s.t, err)
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// Counts that are lost with the meta file are counted again from the ledger.
func TestP1CountsAreRecountedFromTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		open := func() *filestore.Store {
			store, err := filestore.Open(filestore.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
			stdtest.Must(t, err)
			return store
		}
		store := open()
		s := newScenario(t, store)
		s.o.Idle = time.Minute
		s.model.Otherwise = &modeltest.Step{Do: obvious}
		s.play("say alice one\nignored bob blah\nsay alice two\nrefused eve no => declined not_paired\nsay alice /help\nadvance 5m\nactive 0")
		want := s.w.View(s.key).Counts
		s.w.Kill()
		stdtest.Must(t, store.Close())
		lost := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(d.Name(), "meta.json") {
				lost++
				return os.Remove(path)
			}
			return err
		})
		if err != nil || lost == 0 {
			t.Fatalf("%d files lost, %v", lost, err)
		}
		store = open()
		w := actortest.New(t, actortest.Options{Store: store, Model: s.model})
		v := w.View(s.key)
		if fmt.Sprint(v.Counts) != fmt.Sprint(want) {
			t.Errorf("counted %+v, want %+v", v.Counts, want)
		}
		w.Kill()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A chat whose counts do not add up, and whose newest facts left nothing in the ledger, continues: its next facts get
// numbers that were never used.
func TestP1RecountedChatGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		s := newScenario(t, store)
		s.o.Idle = time.Minute
		s.model.Otherwise = &modeltest.Step{Do: obvious}
		s.play("say alice one\nadvance 5m\nactive 0")
		s.w.Kill()
		c, err := store.OpenChat(t.Context(), s.key)
		stdtest.Must(t, err)
		snap, err := c.Load(t.Context())
		stdtest.Must(t, err)
		meta := snap.Meta // as of a turn that was lost since
		meta.Seq, meta.N = meta.Seq+1, meta.N+9
		late := journal.Record{N: meta.N, TS: time.Now().UnixMilli(), Fact: journal.StopRequested{RunID: "r"}}
		stdtest.Must(t, errors.Join(c.Append(t.Context(), late), c.Checkpoint(t.Context(), journal.Checkpoint{Meta: meta}), c.Close()))
		w := s.w.Again(nil)
		w.Say(s.key, "alice", "two")
		<-time.After(time.Minute)
		w.Say(s.key, "alice", "three")
		<-time.After(time.Minute)
		if v := w.View(s.key); len(v.Messages) != 6 || v.Counts.Fates["answered"] != 3 {
			t.Errorf("%d messages, counts %+v", len(v.Messages), v.Counts)
		}
	})
}

// Metrics show what waits to be sent or decided, and how long it took.
func TestScenarioWaitsAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, filestoretest.New(t))
		s.o.Tools = []tool.Tool{actortest.Func{Says: tool.Spec{Name: "rm", Asks: true}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Output: []byte(`"gone"`)}, nil
		}}}
		s.play(`
model call c1 rm {}
model text Removed.
say alice remove it`)
		pending := s.w.Metric("sma_approvals_pending")
		<-time.After(40 * time.Second)
		s.play("say alice yes")
		if now := s.w.Metric("sma_approvals_pending"); pending != 1 || now != 0 || s.w.Metric("sma_approval_wait_seconds") != 1 {
			t.Errorf("pending %v, then %v; waits seen %v", pending, now, s.w.Metric("sma_approval_wait_seconds"))
		}
		if n := s.w.Metric("sma_first_egress_seconds"); n != 2 {
			t.Errorf("first words of %v runs, want 2: the question and the answer", n)
		}
		s.play("model text Late.\nfail send 0 network 3000000\nsay alice hi\nadvance 5m")
		if age := s.w.Metric("sma_outbox_oldest_seconds"); age < 280 || age > 310 {
			t.Errorf("the oldest row is %v s old, want five minutes", age)
		}
		s.play("heal\nadvance 5m")
		if age, n := s.w.Metric("sma_outbox_oldest_seconds"), s.w.Metric("sma_outbox_pending"); age != 0 || n != 0 {
			t.Errorf("%v rows, the oldest %v s old, want none", n, age)
		}
	})
}
