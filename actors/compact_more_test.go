package actors_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func results(req model.Request) (texts []string) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if r, ok := p.(modelmessage.ToolResult); ok {
				texts = append(texts, r.Output.Text+string(r.Output.JSON))
			}
		}
	}
	return texts
}

// A turn has an open request, so it has to stay, and it exceeds the budget of the chat: its large output goes to the
// archive, the model reads a pointer to it, the calls keep their results, and the person's answer still counts.
func TestCO3LargeOutputOfATurnThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := compacting(t, filestoretest.New(t), "2 2600")
		s.model.Otherwise = &modeltest.Step{Do: largeReply}
		s.o.Tools = largeTools()
		for _, words := range []string{"short a", "look", "short b", "short c"} {
			s.world().Say(s.key, "alice", words)
			s.w.Wait()
		}
		if n := s.metricOf("sma_prompt_prefix_broken_total", "cause", "aged_output"); n != 1 {
			t.Errorf("aged outputs broke %v prefixes, want 1", n)
		}
		requests := s.model.Requests()
		got := results(requests[len(requests)-1])
		if len(got) != 2 || !strings.Contains(got[0], `"archive":"`) || strings.Contains(got[0], largeWord) || !strings.Contains(got[1], "waiting for a person") {
			t.Errorf("the model reads %q, want a pointer and a call that waits", got)
		}
		whole := 0
		for _, m := range s.w.View(s.key).Messages {
			if id := agedIn(m); id != "" {
				whole++
			}
		}
		if whole != 1 {
			t.Errorf("%d turns name an archive of their outputs, want 1", whole)
		}
		s.w.Say(s.key, "alice", "/approve 1")
		s.w.Wait()
		s.w.Say(s.key, "alice", "short d")
		s.w.Wait()
		requests = s.model.Requests()
		if got := results(requests[len(requests)-1]); !slices.Contains(got, "done") {
			t.Errorf("the approved call has no result: %q", got)
		}
		if faults := append(s.model.Faults(), s.sums.Faults()...); len(faults) > 0 {
			t.Error(faults)
		}
		s.w.Kill()
		s.store.revive()
		c, err := s.store.OpenChat(t.Context(), s.key)
		stdtest.Must(t, err)
		snap, err := c.Load(t.Context())
		stdtest.Must(t, err)
		for _, m := range snap.History {
			if id := agedIn(m); id != "" {
				a, err := c.ReadArchive(t.Context(), id)
				if err != nil || len(a.Lines) != 1 || strings.Count(a.Lines[0], largeWord) != 500 {
					t.Errorf("archive %s has %d lines, %v; want the whole turn", id, len(a.Lines), err)
				}
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// metricOf returns the value of a counter with a label, or 0 if it was never used.
func (s *scenario) metricOf(name, label, value string) float64 {
	s.t.Helper()
	families, err := s.w.Registry.Gather()
	stdtest.Must(s.t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetName() == label && l.GetValue() == value {
					return m.GetCounter().GetValue()
				}
			}
		}
	}
	return 0
}

// Without archives, compacted turns are not kept and nothing refers to them. The summary still names the turns that it
// replaces, also after a start. Turns that stay are complete: no output is left out that could not be found again.
func TestCO1NoArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		open := func() *filestore.Store {
			store, err := filestore.Open(filestore.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
			stdtest.Must(t, err)
			return store
		}
		store := open()
		s := compacting(t, store, "2 2600")
		s.o.Chat.NoArchive = true
		s.model.Otherwise = &modeltest.Step{Do: largeReply}
		s.o.Tools = largeTools()
		story := []string{"long a", "long b", "long c", "short d", "long e", "long f", "look", "short g"}
		for _, words := range story {
			s.world().Say(s.key, "alice", words)
			s.w.Wait()
			<-time.After(2 * time.Second)
		}
		sums := len(s.sums.Requests())
		stdtest.Must(t, s.kill(""))
		s.w.Wait()
		view := s.w.View(s.key)
		head, ok := summaryOf(view.Messages)
		if !ok || sums < 2 {
			t.Fatalf("%d summaries, at the head: %t", sums, ok)
		}
		users, aged := 0, 0
		for _, m := range view.Messages {
			if m.Role == uimessage.RoleUser {
				users++
			}
			if agedIn(m) != "" {
				aged++
			}
		}
		compacted := len(story) - users
		if r := head.Meta.SourceRange; r == nil || r.Count != int64(2*compacted) || !strings.HasPrefix(r.FromID, "u:") {
			t.Errorf("the summary stands for %+v, want %d turns", r, 2*compacted)
		}
		if id := journal.ArchiveOf(view.Messages); id != "" || aged > 0 {
			t.Errorf("the summary names %q, %d turns name archives; there are none", id, aged)
		}
		if !strings.Contains(fmt.Sprint(lineTexts(view.Messages)), largeWord) {
			t.Error("a large output is gone for good")
		}
		s.w.Kill()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "chat", "*", "messages", "archive", "*"))
		if err != nil || len(files) > 0 {
			t.Errorf("archives %v, %v", files, err)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "chat", string(s.key), "messages", "meta.json")); err != nil || strings.Contains(string(b), `"cursor"`) {
			t.Errorf("the meta file names an archive, or cannot be read: %v", err)
		}
	})
}

// counter counts a tenth of what a bound would, and records its arguments.
type counter struct {
	mu    sync.Mutex
	texts map[string]int
	held  chan struct{} // what the next count waits for; nil: nothing
	share int
}

func (c *counter) count(text string) (int, error) {
	c.mu.Lock()
	held := c.held
	c.texts[text]++
	c.mu.Unlock()
	if held != nil {
		<-held
	}
	return tokens.Bound(text) / c.share, nil
}

func (c *counter) hold(held chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = held
}

// While a compaction checks a chat and finds nothing to do, turns arrive that it has not seen. The chat is checked
// again, although no run begins or ends.
func TestCO2LooksAgainAtWhatCameMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := compacting(t, filestoretest.New(t), "2 2600")
		held, c := make(chan struct{}), &counter{texts: map[string]int{}, share: 2}
		s.o.Compaction.Count = c.count
		s.o.Compaction.Budget = 2600
		c.hold(held)
		for i := range 3 {
			s.world().Say(s.key, "alice", fmt.Sprint("long ", i)) // the bound is above the budget, the count is not
			s.w.Wait()
		}
		if n := len(s.sums.Requests()); n > 0 {
			t.Fatalf("%d summaries before anything was counted", n)
		}
		for i := range 8 {
			s.w.Say(s.key, "alice", fmt.Sprint("long ", 3+i))
			s.w.Wait()
		}
		c.hold(nil)
		close(held)
		s.w.Wait()
		if enough := s.metricOf("sma_compactions_total", "result", "enough"); enough != 1 {
			t.Errorf("%v looks found enough room, want the first", enough)
		}
		if _, ok := summaryOf(s.w.View(s.key).Messages); !ok {
			t.Error("nothing was compacted")
		}
		s.w.Kill()
	})
}

// A turn is counted only once, however often its chat is compacted and leaves memory. The system text is counted once
// per activation.
func TestTurnsAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := compacting(t, newStore(t), "6 2600")
		c := &counter{texts: map[string]int{}, share: 1}
		s.o.Compaction.Count = c.count
		for i := range 40 {
			s.world().Say(s.key, "alice", fmt.Sprintf("long %d", i))
			s.w.Wait()
			<-time.After(2 * time.Second)
			if i%10 == 9 {
				stdtest.Must(t, s.kill(""))
				s.w.Wait()
			}
		}
		if n := len(s.sums.Requests()); n < 10 {
			t.Errorf("%d summaries", n)
		}
		counted, system := 0, 0
		for text, n := range c.texts {
			switch {
			case strings.HasPrefix(text, "long"), strings.HasPrefix(text, "re long"), strings.HasPrefix(text, "[A record"):
				if counted++; n > 1 {
					t.Errorf("%.20q was counted %d times", text, n)
				}
			default:
				system += n
			}
		}
		if counted < 60 || system > 5 {
			t.Errorf("%d turns were counted, and the system text %d times in 5 activations", counted, system)
		}
		s.w.Kill()
	})
}

// Whatever the model does when it is asked for a summary, nothing is lost, no turn waits for it, and it is asked at
// most twice an hour.
func TestCO4ModelsThatFailOrLie(t *testing.T) {
	for name, step := range map[string]modeltest.Step{
		"empty":  {Text: []string{""}},
		"blank":  {Text: []string{" \n\t "}},
		"longer": {Text: []string{strings.Repeat("much more ", 30_000)}},
		"broken": {Do: func(model.Request) []model.Event { return modeltest.TextEvents("## Facts") }},
		"calls": {Do: func(model.Request) []model.Event {
			return append(modeltest.CallEvents(modeltest.Call{ID: "k", Name: "look", Input: "{}"}), modeltest.Finish("tool-calls"))
		}},
		"refuses":   {Err: &model.Error{Reason: model.ReasonBadRequest, Status: 400}},
		"forbidden": {Err: &model.Error{Reason: model.ReasonAuth, Status: 401}},
		"never":     {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := compacting(t, filestoretest.New(t), "2 2600")
				if name == "never" {
					step = modeltest.Held(make(chan struct{}), modeltest.Say("too late"))
				}
				s.sums.Otherwise = &step
				var want []string
				for i := range 12 {
					words := fmt.Sprintf("long %d", i)
					want = append(want, words)
					before := time.Now()
					s.world().Say(s.key, "alice", words)
					s.w.Wait()
					if d := time.Since(before); d > 0 || len(s.w.Platform.Texts(s.key)) != len(want) {
						t.Errorf("message %d: answered %d of %d after %v", i, len(s.w.Platform.Texts(s.key)), len(want), d)
					}
					<-time.After(4 * time.Minute)
				}
				if n := len(s.sums.Requests()); n < 1 || n > 2 {
					t.Errorf("asked %d times in 48 minutes, want at most 2", n)
				}
				if _, ok := summaryOf(s.w.View(s.key).Messages); ok {
					t.Error("there is a summary")
				}
				s.w.Kill()
				s.store.revive()
				if got, _ := s.told(); !slices.Equal(got, want) {
					t.Errorf("the chat has %q", got)
				}
			})
		})
	}
}
