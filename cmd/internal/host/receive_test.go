package host

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestRL16ReceiveLoopThatPanicsBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		var states []bool
		over := errors.New("over")
		err := revive(t.Context(), slog.New(slog.DiscardHandler), func(up bool, _ string) { states = append(states, up) }, func() error {
			at = append(at, time.Since(began))
			switch len(at) {
			case 1, 2:
				panic("a fault")
			case 3:
				<-time.After(time.Hour) // it works for a while: the pause is short again
				panic("another")
			default:
				return over
			}
		})
		if !errors.Is(err, over) {
			t.Errorf("ended with %v", err)
		}
		want := []time.Duration{0, time.Second, 3 * time.Second, time.Hour + 4*time.Second}
		stdtest.Diff(t, "begun", want, at)
		stdtest.Diff(t, "states", []bool{false, false, false}, states)
	})
}

func TestReceiveLoopIsNotRevivedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		runs := 0
		go func() {
			<-time.After(10 * time.Second)
			cancel()
		}()
		err := revive(ctx, slog.New(slog.DiscardHandler), func(bool, string) {}, func() error {
			runs++
			panic("always")
		})
		if err != nil || runs != 4 { // at 0, 1, 3 and 7 s
			t.Errorf("ended with %v after %d runs", err, runs)
		}
	})
}
