package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// failing makes the calls of a platform fail with these errors, one after another; nil succeeds.
func failing(with ...*platform.Error) func(string, int) error {
	return func(_ string, n int) error {
		if n > len(with) || with[n-1] == nil {
			return nil
		}
		return with[n-1]
	}
}

func failure(reason platform.SendReason, after time.Duration) *platform.Error {
	retryable := reason == platform.SendRate || reason == platform.SendNetwork || reason == platform.SendServer
	return &platform.Error{Reason: reason, Retryable: retryable, RetryAfter: after, Err: errors.New("simulated")}
}

// A draft ends with its row: a part that was not shown in time is not shown after an answer that
// was refused.
func TestDraftOfARefusedAnswerIsNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := messages.RowID{MessageID: "a1", N: 1}
		fake := &actortest.Platform{
			Caps: platform.Capabilities{Outbox: true, Drafts: true},
			Fail: failing(failure(platform.SendRate, 5*time.Second), failure(platform.SendRefused, 0)),
		}
		s := newStage(t, adapter.Options{Platform: fake})
		s.send(
			messages.ShowDraft{ChatKey: oneChat, Row: row, Text: "half"},
			messages.ShowDraft{ChatKey: oneChat, Row: row, Text: "half of"},
			messages.Deliver{ChatKey: oneChat, Row: row, Text: "all of it"},
		)
		<-time.After(time.Minute)
		if got := fake.Texts(oneChat); len(got) > 0 {
			t.Errorf("people see %q", got)
		}
		want := []any{messages.EgressFailed{ChatKey: oneChat, Row: row, Reason: string(platform.SendRefused)}}
		stdtest.Diff(t, "the chat was told", want, s.chats.all())
	})
}

// TestIO13FailuresAtTheEndOfAnOutage: a service that recovers first answers with failures of its
// own. Those are retried, however long it was unreachable before.
func TestIO13FailuresAtTheEndOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var with []*platform.Error
		for range 30 {
			with = append(with, failure(platform.SendNetwork, 0))
		}
		for range 3 {
			with = append(with, failure(platform.SendServer, 0))
		}
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: failing(with...)}
		s := newStage(t, adapter.Options{Platform: fake})
		s.send(messages.Deliver{ChatKey: oneChat, Row: messages.RowID{MessageID: "a1"}, Text: "here"})
		<-time.After(20 * time.Minute)
		if diff := cmp.Diff([]string{"here"}, fake.Texts(oneChat)); diff != "" {
			t.Errorf("people see (-want +got):\n%s; the chat was told %+v", diff, s.chats.all())
		}
	})
}

// TestIO7LongWaits: a wait of more than a day is observed, and a network failure after it counts as
// the first one.
func TestIO7LongWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: failing(
			failure(platform.SendNetwork, 0), failure(platform.SendRate, 25*time.Hour), failure(platform.SendNetwork, 0),
		)}
		s := newStage(t, adapter.Options{Platform: fake})
		begun := time.Now()
		s.send(messages.Deliver{ChatKey: oneChat, Row: messages.RowID{MessageID: "a1"}, Text: "here"})
		<-time.After(time.Until(begun.Add(25*time.Hour - time.Second)))
		if got := fake.Texts(oneChat); len(got) > 0 {
			t.Errorf("too early: %q", got)
		}
		<-time.After(time.Hour)
		if diff := cmp.Diff([]string{"here"}, fake.Texts(oneChat)); diff != "" {
			t.Errorf("people see (-want +got):\n%s; the chat was told %+v", diff, s.chats.all())
		}
	})
}

// TestIO7OthersGoOn: a wait of one chat delays no other chat. If many chats have to wait at once,
// the account may be meant, which then waits as long as the first of them; waits that a platform
// only remembers, as after a restart, do not count.
func TestIO7OthersGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		told *platform.Error // for all chats but the last one, which has to wait an hour
		want time.Duration   // maximum wait of another chat
	}{
		"told":       {failure(platform.SendRate, 10*time.Second), 10 * time.Second},
		"remembered": {&platform.Error{Reason: platform.SendRate, Retryable: true, Remembered: true, RetryAfter: time.Hour, Err: errors.New("simulated")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hour := failure(platform.SendRate, time.Hour)
				hour.Remembered = c.told.Remembered
				fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: failing(c.told, c.told, c.told, c.told, hour)}
				s := newStage(t, adapter.Options{Platform: fake})
				for i := range 6 {
					key := messages.ChatKey(fmt.Sprint("telegram-chat-", i+1))
					s.send(messages.Deliver{ChatKey: key, Row: messages.RowID{MessageID: "a1"}, Text: "here"})
				}
				<-time.After(c.want)
				synctest.Wait()
				stdtest.Diff(t, "the chat that was told nothing sees", []string{"here"}, fake.Texts("telegram-chat-6"))
				<-time.After(50 * time.Minute)
				if got := fake.Texts("telegram-chat-5"); len(got) > 0 {
					t.Errorf("sent within the hour: %q", got)
				}
			})
		})
	}
}

// A panic of the actor ends the watches of its readers, and the chats are informed, so that they
// send no frames without a reader.
func TestWatchesEndWithAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: failing(failure(platform.SendServer, 0))}
		s := newStage(t, adapter.Options{Platform: fake, Jitter: func() func(time.Duration) time.Duration {
			n := 0
			return func(d time.Duration) time.Duration {
				if n++; n == 1 {
					panic("simulated")
				}
				return d
			}
		}()})
		port := adapter.NewPort(s.system, s.pid, adapter.PortOptions{Platform: "telegram"})
		frames, err := port.Watch(t.Context(), oneChat)
		stdtest.Must(t, err)
		s.send(messages.Deliver{ChatKey: oneChat, Row: messages.RowID{MessageID: "a1"}, Text: "here"})
		<-time.After(time.Minute)
		if _, open := <-frames; open {
			t.Error("the reader is not let go")
		}
		unwatched := 0
		for _, msg := range s.chats.all() {
			if _, ok := msg.(messages.UnwatchChat); ok {
				unwatched++
			}
		}
		if diff := cmp.Diff([]string{"here"}, fake.Texts(oneChat)); diff != "" || unwatched != 1 {
			t.Errorf("the chat heard %d times that nobody watches; people see (-want +got):\n%s", unwatched, diff)
		}
	})
}

// dropping sends, but loses the responses to its first sends.
type dropping struct {
	*actortest.Platform
	mu   sync.Mutex
	lose int
}

func (d *dropping) Send(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	made, err := d.Platform.Send(ctx, to, part)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lose--; d.lose >= 0 && err == nil {
		lost := failure(platform.SendNetwork, 0)
		lost.Unknown = true
		return messages.Receipt{}, lost
	}
	return made, err
}

// TestIO6PlaceholderWithoutAnAnswer: if one placeholder may exist unknown to us, no second one is
// made as the text grows: people get the finished text, which is marked.
func TestIO6PlaceholderWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := messages.RowID{MessageID: "a1", N: 1}
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}}
		s := newStage(t, adapter.Options{Platform: &dropping{Platform: fake, lose: 3}})
		for _, text := range []string{"one", "one two", "one two three", "one two three four"} {
			s.send(messages.ShowDraft{ChatKey: oneChat, Row: row, Text: text})
			<-time.After(5 * time.Second)
		}
		if got := fake.Texts(oneChat); len(got) != 1 {
			t.Errorf("while the text grows people see %q", got)
		}
		s.send(messages.Deliver{ChatKey: oneChat, Row: row, Text: "one two three four five"})
		<-time.After(time.Minute)
		told := s.chats.all()
		if got, ok := told[len(told)-1].(messages.EgressDelivered); !ok || !got.Maybe {
			t.Errorf("the chat was told %+v", told)
		}
	})
}
