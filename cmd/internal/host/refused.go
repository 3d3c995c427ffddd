package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
)

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
