package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// cleanups are the steps of a shutdown, in the order in which their parts were started.
type cleanups struct{ steps []cleanup }

type cleanup struct {
	name string
	run  func(ctx context.Context) error
}

func (c *cleanups) add(name string, run func(ctx context.Context) error) {
	c.steps = append(c.steps, cleanup{name, run})
}

// grace is how much time each step still gets after the deadline, since the last steps flush and close what the
// others used.
const grace = 250 * time.Millisecond

// run executes all steps in reverse order, once. A step that fails or times out does not stop the next one.
func (c *cleanups) run(ctx context.Context, log *slog.Logger) error {
	steps := c.steps
	c.steps = nil
	var errs []error
	for _, s := range slices.Backward(steps) {
		done := make(chan error, 1)
		go func() { done <- guarded(ctx, s) }()
		if err := inTime(ctx, done); err != nil {
			log.Warn("a component did not stop cleanly", "part", s.name, "error", err)
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return errors.Join(errs...)
}

// inTime waits for a step until grace after ctx ends.
func inTime(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return context.Cause(ctx)
	}
}

func guarded(ctx context.Context, s cleanup) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return s.run(ctx)
}
