package adapter

import (
	"fmt"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

func at(seconds float64) time.Time {
	return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

func TestWindow(t *testing.T) {
	w := window{rate: platform.Rate{N: 2, Per: 10 * time.Second}}
	for _, step := range []struct {
		at   float64
		wait time.Duration
	}{{0, 0}, {1, 0}, {2, 8 * time.Second}, {10, 0}, {10.5, 500 * time.Millisecond}, {11, 0}, {30, 0}} {
		got := w.wait(at(step.at))
		if got != step.wait {
			t.Errorf("at %v it waits %v, want %v", step.at, got, step.wait)
		}
		if got == 0 {
			w.note(at(step.at))
		}
	}
	w.over(at(35))
	if got := w.wait(at(36)); got != 0 {
		t.Errorf("one event counts: it waits %v", got)
	}
	if got := w.rest(at(36)); got != 9*time.Second {
		t.Errorf("the end of the event counts: it rests in %v", got)
	}
	if none := (window{}); none.wait(at(0)) != 0 || none.rest(at(0)) != 0 || !none.spare(at(0)) {
		t.Error("the zero rate holds something back")
	}
}

func TestSpareIsHalfAWindow(t *testing.T) {
	w := window{rate: platform.Rate{N: 20, Per: time.Minute}}
	for i := range 10 {
		if !w.spare(at(float64(i))) {
			t.Fatalf("nothing to spare after %d of 20", i)
		}
		w.note(at(float64(i)))
	}
	if w.spare(at(10)) || !w.spare(at(61)) {
		t.Error("drafts may use one half, until the first of them no longer counts")
	}
}

func TestFloodHoldsTheAccount(t *testing.T) {
	chat := func(i int) messages.ChatKey { return messages.ChatKey(fmt.Sprint("telegram-chat-", i)) }
	for _, tc := range []struct {
		name string
		play func(l *limits)
		want time.Duration // wait of the account at 2 s
	}{
		{"one chat again and again", func(l *limits) {
			for range 20 {
				l.refused(chat(1), at(1), time.Minute)
			}
		}, 0},
		{"four chats", func(l *limits) {
			for i := range floodChats - 1 {
				l.refused(chat(i), at(1), time.Minute)
			}
		}, 0},
		{"one after another", func(l *limits) {
			for i := range floodChats {
				l.refused(chat(i), at(1), time.Minute)
			}
		}, 59 * time.Second},
		{"something is taken in between", func(l *limits) {
			for i := range floodChats {
				l.refused(chat(i), at(1), time.Minute)
				l.sent()
			}
		}, 0},
		{"far apart", func(l *limits) {
			for i := range floodChats {
				l.refused(chat(i), at(3*float64(i)-13), time.Minute)
			}
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &limits{}
			tc.play(l)
			if got := l.wait(at(2)); got != tc.want {
				t.Errorf("the account waits %v, want %v", got, tc.want)
			}
		})
	}
}

// TestIO9RetryIsBounded checks what each failure leads to, try after try.
func TestIO9RetryIsBounded(t *testing.T) {
	same := func(d time.Duration) time.Duration { return d }
	for _, tc := range []struct {
		name  string
		err   platform.Error
		tries int // until it gives up; 0 means not within a thousand
	}{
		{"server", platform.Error{Reason: platform.SendServer, Retryable: true}, maxTries},
		{"network", platform.Error{Reason: platform.SendNetwork, Retryable: true}, 0},
		{"network, outcome unknown", platform.Error{Reason: platform.SendNetwork, Retryable: true, Unknown: true}, maxUnknown},
		{"rate", platform.Error{Reason: platform.SendRate, Retryable: true, RetryAfter: time.Minute}, 0},
		{"forbidden", platform.Error{Reason: platform.SendForbidden}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j, given := &job{}, 0
			for n := 1; n <= 1000 && given == 0; n++ {
				wait, again := j.retry(&tc.err, at(float64(n)), same)
				switch {
				case !again:
					given = n
				case wait < tc.err.RetryAfter || wait > max(tc.err.RetryAfter, longestRetry):
					t.Fatalf("try %d waits %v", n, wait)
				}
			}
			if given != tc.tries {
				t.Errorf("given up at try %d, want %d", given, tc.tries)
			}
		})
	}
	if _, again := (&job{failing: at(0)}).retry(&platform.Error{Reason: platform.SendNetwork, Retryable: true}, at(25*3600), same); again {
		t.Error("an outage of more than a day is not given up")
	}
	for range 1000 {
		if d := fullJitter(time.Second); d < 100*time.Millisecond || d > time.Second {
			t.Fatalf("jitter of a second is %v", d)
		}
	}
}
