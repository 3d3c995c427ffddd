package httpcall

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

// drip is a body that provides a byte after each pause.
type drip struct {
	ctx    context.Context //nolint:containedctx // a body has no other way to know it
	pauses []time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	if len(d.pauses) == 0 {
		return 0, io.EOF
	}
	retry.Wait(d.ctx, d.pauses[0])
	if err := context.Cause(d.ctx); err != nil {
		return 0, err
	}
	d.pauses = d.pauses[1:]
	p[0] = 'x'
	return 1, nil
}

// TestWhileAlive checks that an answer that continues to arrive is not cut off, however long it
// takes.
func TestWhileAlive(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  time.Duration
		pauses []time.Duration
		want   error
	}{
		{"at once", 0, nil, nil},
		{"slow but alive", 8 * time.Second, []time.Duration{4 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second}, nil},
		{"no answer", 10 * time.Second, nil, context.DeadlineExceeded},
		{"pauses in the middle", 0, []time.Duration{time.Second, 6 * time.Second}, context.DeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := WhileAlive(t.Context(), 9*time.Second, 5*time.Second)
				defer cancel()
				retry.Wait(ctx, c.first)
				_, err := io.ReadAll(watched(ctx, &drip{ctx, c.pauses}))
				if err == nil {
					err = context.Cause(ctx)
				}
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}
