package actors_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// showing is a platform with drafts that are not messages, and with reactions.
type showing struct {
	*actortest.Platform

	hold chan struct{} // sends wait for it; nil: they do not

	mu     sync.Mutex
	refuse bool // drafts
	drafts []string
	marks  []string
	stuck  bool // marks never come back
}

func newShowing(caps platform.Capabilities) *showing {
	caps.Outbox = true
	return &showing{Platform: &actortest.Platform{Caps: caps}}
}

func (s *showing) TakesDrafts(platform.Target) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.refuse || len(s.drafts) == 0
}

func (s *showing) Draft(_ context.Context, _ platform.Target, id string, part platform.Part) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drafts = append(s.drafts, id+" "+part.Text)
	if s.refuse {
		return platform.ErrNoDraft
	}
	return nil
}

func (s *showing) Mark(ctx context.Context, _ platform.Target, message string, mark messages.Mark) error {
	s.mu.Lock()
	s.marks = append(s.marks, message+" "+string(mark))
	stuck := s.stuck
	s.mu.Unlock()
	if stuck {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (s *showing) Send(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	if s.hold != nil {
		<-s.hold
	}
	return s.Platform.Send(ctx, to, part)
}

func (s *showing) seen() (drafts, marks []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.drafts...), append([]string(nil), s.marks...)
}

func (s *showing) world(t *testing.T, steps ...modeltest.Step) *actortest.World {
	t.Helper()
	return actortest.New(t, actortest.Options{Store: newStore(t), Model: modeltest.NewScript(steps...), Platform: s.Platform, Real: s})
}

// A draft that is not a message is renewed while its text does not grow, and the finished text is a separate message.
func TestDraftBesideTheMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := newShowing(platform.Capabilities{Drafts: true}), make(chan struct{})
		w := s.world(t, modeltest.Step{Text: []string{"half of"}, WaitAfterText: release})
		w.Say(alice, "alice", "hi")
		<-time.After(65 * time.Second)
		drafts, _ := s.seen()
		if len(drafts) != 4 || len(s.Sent()) > 0 {
			t.Errorf("drafts %q, messages %+v", drafts, s.Sent())
		}
		for _, d := range drafts {
			if d != drafts[0] || !strings.HasSuffix(d, " half of") {
				t.Errorf("the draft changes: %q", drafts)
			}
		}
		close(release)
		<-time.After(time.Minute)
		if again, _ := s.seen(); len(again) != 4 || len(s.Sent()) != 1 || s.Sent()[0].Edits > 0 || s.Sent()[0].Text != "half of" {
			t.Errorf("in the end: drafts %q, messages %+v", again, s.Sent())
		}
	})
}

// In a chat that shows no drafts, the text appears in a message that grows.
func TestDraftBesideIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := newShowing(platform.Capabilities{Drafts: true}), make(chan struct{})
		s.refuse = true
		w := s.world(t, modeltest.Step{Text: []string{"half of"}, WaitAfterText: release})
		w.Say(alice, "alice", "hi")
		<-time.After(3 * time.Second)
		if drafts, _ := s.seen(); len(drafts) != 1 || len(s.Sent()) != 1 {
			t.Errorf("drafts %q, messages %+v", drafts, s.Sent())
		}
		close(release)
		w.Wait()
		if sent := s.Sent(); len(sent) != 1 || sent[0].Text != "half of" {
			t.Errorf("in the end: %+v", sent)
		}
	})
}

// If a run ends while the receipt of its placeholder is on its way to the chat, the answer is sent at once, in the
// placeholder.
func TestAnswerMeetsTheReceiptOfItsPlaceholder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, disk := make(chan struct{}), make(chan struct{})
		s := newShowing(platform.Capabilities{Drafts: true})
		s.hold, s.refuse = make(chan struct{}), true
		var mu sync.Mutex
		slow := false
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Platform: s.Platform, Real: s,
			Model: modeltest.NewScript(modeltest.Step{Text: []string{"half of"}, WaitAfterText: release}),
			Fail: func(string) error {
				mu.Lock()
				wait := slow
				slow = false
				mu.Unlock()
				if wait {
					<-disk
				}
				return nil
			},
		})
		w.Say(alice, "alice", "hi")
		<-time.After(3 * time.Second)
		mu.Lock()
		slow = true // the write of the run's end takes its time
		mu.Unlock()
		close(release)
		w.Wait()
		close(s.hold) // meanwhile the placeholder arrives
		w.Wait()
		close(disk)
		w.Wait()
		if sent := s.Sent(); len(sent) != 1 || sent[0].Text != "half of" {
			t.Errorf("there stands %+v", sent)
		}
		if v := w.View(alice); v.Counts.Pending != 0 {
			t.Errorf("still owed: %+v", v.Counts)
		}
	})
}

// A message gets a reaction when it is accepted and when the run in progress has it. The reactions are removed when it
// is answered, also after a restart.
func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := newShowing(platform.Capabilities{Reactions: true}), make(chan struct{})
		s.Caps.Reactions = true
		w := s.world(t, modeltest.Held(release, modeltest.Say("one")), modeltest.Say("both"))
		w.Say(alice, "alice", "first")
		<-time.After(time.Second)
		w.Say(alice, "alice", "second")
		<-time.After(time.Second)
		w = w.Again(nil)
		<-time.After(5 * time.Second)
		close(release)
		<-time.After(5 * time.Second)
		_, marks := s.seen()
		last := map[string]string{}
		for _, m := range marks {
			message, mark, _ := strings.Cut(m, " ")
			last[message] = mark
		}
		if marks[0] != "1 seen" || len(last) != 2 || last["1"] != "" || last["2"] != "" {
			t.Errorf("marks %q", marks)
		}
		_ = w
	})
}

// Reactions that never return, and too many of them, delay no answer.
func TestMarksHoldNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShowing(platform.Capabilities{
			Reactions: true, Rates: platform.Rates{PerChat: platform.Rate{N: 1, Per: time.Second}, PerSender: platform.Rate{N: 4, Per: time.Second}},
		})
		s.stuck = true
		script := modeltest.NewScript()
		script.Otherwise = &modeltest.Step{Text: []string{"answered"}}
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Platform: s.Platform, Real: s})
		began := time.Now()
		w.Say(alice, "alice", "hi")
		w.Wait()
		if diff := cmp.Diff([]string{"answered"}, s.Texts(alice)); diff != "" || time.Since(began) > 0 {
			t.Errorf("after %v (-want +got):\n%s", time.Since(began), diff)
		}
		for range 5 {
			w.Say(alice, "alice", "hi")
		}
		<-time.After(10 * time.Second)
		if n := len(s.Texts(alice)); n < 2 {
			t.Errorf("%d answers", n)
		}
		if v := w.View(alice); v.Counts.Open != 0 || v.Counts.Pending != 0 {
			t.Errorf("left: %+v", v.Counts)
		}
	})
}
