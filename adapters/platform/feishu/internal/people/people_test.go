package people_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/people"
)

// service answers requests for names and counts them.
type service struct {
	names    map[string]string
	err      error
	slow     bool
	asked    int
	failures int
}

func (s *service) ask(ctx context.Context, id string) (string, error) {
	s.asked++
	if s.slow {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return s.names[id], s.err
}

func (s *service) start() *people.Names {
	return people.New(s.ask, time.Now, func(error) { s.failures++ })
}

func want(t *testing.T, s *service, got, name string, asked int) {
	t.Helper()
	if got != name || s.asked != asked {
		t.Errorf("the name is %q after %d requests, want %q after %d", got, s.asked, name, asked)
	}
}

// A name is requested once an hour, also if the service knows none, and what is not a person's id is
// never requested.
func TestOneRequestAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{names: map[string]string{"ou_bob": "Bob\n\u202eStone"}}
		n := s.start()
		for range 3 {
			want(t, s, n.Of(t.Context(), "ou_bob"), "Bob Stone", 1)
		}
		for range 3 {
			want(t, s, n.Of(t.Context(), "ou_stranger"), "", 2)
		}
		want(t, s, n.Of(t.Context(), "cli_bot"), "", 2)
		want(t, s, n.Of(t.Context(), ""), "", 2)
		s.names["ou_bob"] = "Robert"
		<-time.After(people.Keep)
		want(t, s, n.Of(t.Context(), "ou_bob"), "Robert", 3)
	})
}

// After a failure no name is requested for a minute, the names that are known stay in use, and one
// failure is reported.
func TestFailuresPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{names: map[string]string{"ou_bob": "Bob"}}
		n := s.start()
		n.Of(t.Context(), "ou_bob")
		<-time.After(people.Keep)
		s.err = errors.New("the scope is missing")
		want(t, s, n.Of(t.Context(), "ou_bob"), "Bob", 2)
		want(t, s, n.Of(t.Context(), "ou_ann"), "", 2)
		<-time.After(people.Pause)
		want(t, s, n.Of(t.Context(), "ou_ann"), "", 3)
		if s.failures != 1 {
			t.Errorf("%d failures were reported, want 1", s.failures)
		}
		<-time.After(people.Pause)
		s.err = nil
		s.names["ou_ann"] = "Ann"
		want(t, s, n.Of(t.Context(), "ou_ann"), "Ann", 4)
	})
}

// A service that does not answer delays a message by a second, once a minute.
func TestASilentService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{slow: true}
		n, began := s.start(), time.Now()
		for range 10 {
			want(t, s, n.Of(t.Context(), "ou_bob"), "", 1)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("ten messages were delayed by %s, want 1s", took)
		}
	})
}
