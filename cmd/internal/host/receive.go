package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
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

// refusals detects that the services refused the credentials of all platforms before any of them worked. It is safe
// for concurrent use.
type refusals struct {
	mu      sync.Mutex
	waiting map[string]bool // platforms with a credential that was neither accepted nor refused yet
	refused []string        // the refusals, in words for people
	worked  bool
}

func newRefusals() *refusals { return &refusals{waiting: map[string]bool{}} }

// expect names a platform with a credential, before it is connected.
func (r *refusals) expect(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[name] = true
}

// works reports that the service accepted the credential of a platform.
func (r *refusals) works(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[name] {
		r.worked = true
	}
}

// refuse reports that the service refused the credential of a platform. It returns true if all were refused and none
// ever worked.
func (r *refusals) refuse(name, why string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.waiting[name] {
		return false
	}
	delete(r.waiting, name)
	r.refused = append(r.refused, name+": "+why)
	return !r.worked && len(r.waiting) == 0
}

// refused ends the host, because every credential was refused right after the start and the operator configured no
// other platform where people could write.
func (h *Host) refused() {
	r := h.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	what := slices.Sorted(slices.Values(r.refused))
	h.fail(&Failure{
		Kind: KindCredential, What: "no platform takes its credential", Why: errors.New(strings.Join(what, "; ")), Help: "sma doctor --online --dir " + h.folder(),
	})
}

// expectCredentials lists the platforms whose refusal ends the host. The list is empty if the operator configured the
// web chat or the API, which keep working.
func (h *Host) expectCredentials(places []platformStart) {
	a := h.opts.Settings.Settings.Adapters
	for _, key := range []string{"adapters.web.enabled", "adapters.web.listen", "adapters.web.token", "adapters.api.token"} {
		if a.Web.Enabled && h.opts.Settings.Origin(key).Source != config.FromDefault {
			return
		}
	}
	for _, p := range places {
		if _, isBot := h.services.Of(p.name); isBot {
			h.refusals.expect(p.name)
		}
	}
}

// isCredentialRefused reports whether a platform ended because its service refused the credential.
func isCredentialRefused(err error) bool {
	e, ok := errors.AsType[*platform.Error](err)
	return ok && e.Reason == platform.SendAuth
}

// refusalText is what people see of a refused credential.
func refusalText(err error) string {
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return fmt.Sprint(err)
}
