package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// A receive loop that panics is restarted after a pause that doubles.
const (
	firstRevival = time.Second
	lastRevival  = time.Minute
)

// errLoopPanicked is what people see of a panic; the details are in the log.
var errLoopPanicked = errors.New("a fault of the program ended it; it is tried again")

// receive runs a platform's receive loop. When it ends, the platform is reported as down; the others continue.
func (h *Host) receive(p platformStart) {
	made := h.ports[p.name]
	loop := p.receive
	if loop == nil {
		loop = func(ctx context.Context, p platform.Platform, host platform.Host) error { return p.Receive(ctx, host) }
	}
	log := h.log.With("platform", p.name)
	h.background(p.name, func(ctx context.Context) {
		err := revive(ctx, log, made.port.Status, func() error { return loop(ctx, made.platform, h.deciders.Informed(made.port)) })
		if err == nil || ctx.Err() != nil {
			return
		}
		if isCredentialRefused(err) {
			made.port.Status(false, refusalText(err))
			if h.refusals.refuse(p.name, refusalText(err)) {
				h.refused()
				return
			}
			log.Error("a platform has stopped because its credentials were refused; the others continue", "error", refusalText(err))
			return
		}
		log.Error("a platform has stopped; the others continue", "error", err)
		made.port.Status(false, err.Error())
	})
}

// revive runs a loop until it returns. After a panic it reports the platform as down and restarts the loop; the
// platform redelivers what was not confirmed.
func revive(ctx context.Context, log *slog.Logger, status func(up bool, note string), loop func() error) error {
	for pause := firstRevival; ; pause = min(2*pause, lastRevival) {
		began := time.Now()
		err := unpanicked(log, loop)
		if !errors.Is(err, errLoopPanicked) || ctx.Err() != nil {
			return err
		}
		status(false, err.Error())
		if time.Since(began) > lastRevival {
			pause = firstRevival
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// unpanicked turns a panic into an error.
func unpanicked(log *slog.Logger, loop func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("a receive loop panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errLoopPanicked
		}
	}()
	return loop()
}
