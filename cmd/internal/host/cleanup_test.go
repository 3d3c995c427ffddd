package host

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestCleanupsRunInReverseWhateverHappens(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	broken := errors.New("broken")
	forever := make(chan struct{})
	defer close(forever)
	var c cleanups
	var order []string
	step := func(name string, err error) func(context.Context) error {
		return func(context.Context) error { order = append(order, name); return err }
	}
	c.add("store", step("store", nil))
	c.add("system", func(context.Context) error { cancel(); <-forever; return nil })
	c.add("web", func(context.Context) error { order = append(order, "web"); panic("oops") })
	c.add("socket", step("socket", broken))
	err := c.run(ctx, slog.New(slog.DiscardHandler))
	stdtest.Diff(t, "order", []string{"socket", "web", "store"}, order)
	if !errors.Is(err, broken) || !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want what failed and what did not end in time", err)
	}
	if err := c.run(t.Context(), slog.New(slog.DiscardHandler)); err != nil || len(order) > 3 {
		t.Errorf("a second run did something: %v, %q", err, order)
	}
}
