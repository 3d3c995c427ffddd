package modelgate_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// slow is a model that takes two seconds for an answer. It records how long people waited for an
// answer to their last message.
type slow struct {
	mu       sync.Mutex
	said     map[string]time.Time // by text
	waits    []time.Duration
	inFlight int
	most     int
}

func (s *slow) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.begin(1)
		<-time.After(2 * time.Second)
		s.begin(-1)
		s.answered(req.Messages)
		modeltest.NewScript(modeltest.Say("ok")).Stream(ctx, req)(yield)
	}
}

func (s *slow) begin(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
	s.most = max(s.most, s.inFlight)
}

func (s *slow) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[text] = time.Now()
}

func (s *slow) answered(list []modelmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(list) {
		if m.Role != modelmessage.RoleUser {
			return
		}
		text, _ := m.Parts[len(m.Parts)-1].(modelmessage.Text)
		s.waits = append(s.waits, time.Since(s.said[text.Text]))
	}
}

// Many chats send ten messages each, and the model keeps up with a third of them: every chat is
// answered, no chat waits longer than three times the median, and the queue is bounded by the
// number of chats. With SOAK set there are a thousand.
func TestOV1CrowdIsServedFairly(t *testing.T) {
	chats, slots := 60, 4
	if os.Getenv("SOAK") != "" {
		chats, slots = 1000, 64
	}
	synctest.Test(t, func(t *testing.T) {
		m := &slow{said: map[string]time.Time{}}
		w := actortest.New(t, actortest.Options{Store: filestoretest.New(t), Model: m, Slots: slots})
		waiting := 0.0
		for n := range 10 {
			for i := range chats {
				text := fmt.Sprintf("message %d of chat %d", n, i)
				m.say(text)
				w.Say(messages.ChatKey(fmt.Sprint("telegram-chat-", i+1)), "p", text)
				if i%10 == 0 {
					<-time.After(10 * time.Millisecond)
				}
			}
			waiting = max(waiting, w.Metric("sma_model_calls_waiting"))
			<-time.After(10 * time.Second)
		}
		<-time.After(time.Hour)
		slices.Sort(m.waits)
		median, longest := m.waits[len(m.waits)/2], m.waits[len(m.waits)-1]
		t.Logf("%d messages, median wait %v, longest %v; at most %v calls waited and %d ran", len(m.waits), median, longest, waiting, m.most)
		if len(m.waits) != 10*chats || longest > 3*median {
			t.Errorf("%d messages answered, want %d; the longest wait is %v, the median %v", len(m.waits), 10*chats, longest, median)
		}
		if waiting > float64(chats) || m.most > slots {
			t.Errorf("%v calls waited and %d ran", waiting, m.most)
		}
		for i := range chats {
			key := messages.ChatKey(fmt.Sprint("telegram-chat-", i+1))
			if c := w.View(key).Counts; c.Accepted != 10 || c.Open != 0 || !slices.ContainsFunc(w.Platform.Texts(key), func(s string) bool { return strings.HasPrefix(s, "ok") }) {
				t.Errorf("%s: %+v", key, c)
			}
		}
	})
}
