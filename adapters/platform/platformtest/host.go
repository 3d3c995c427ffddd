package platformtest

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// State is what a platform reported with [platform.Host.Status].
type State struct {
	Up   bool
	Note string
}

// Host is a core that records what platforms hand over. Like the real core it recognises the ids that it has accepted. It
// is safe for concurrent use.
type Host struct {
	faketest.Changes
	mu       faketest.Guard
	refuse   func(platform.Inbound) error
	known    map[string]string // the turns, by chat and id
	accepted []platform.Inbound
	offered  []platform.Inbound
	states   []State
}

var _ platform.Host = (*Host)(nil)

// NewHost returns a host that accepts everything.
func NewHost() *Host { return &Host{known: map[string]string{}} }

// Refuse makes the host refuse the inbounds for which f returns an error. If f is nil, it refuses none.
func (h *Host) Refuse(f func(platform.Inbound) error) { h.mu.Do(func() { h.refuse = f }) }

// Accept implements [platform.Host].
func (h *Host) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	defer h.Signal()
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]platform.Result, len(in))
	for i, x := range in {
		h.offered = append(h.offered, x)
		out[i].Err = ctx.Err()
		if out[i].Err == nil && h.refuse != nil {
			out[i].Err = h.refuse(x)
		}
		id := string(x.ChatKey) + " " + x.IngressID
		out[i].TurnID = cmp.Or(x.TurnID, "u:"+string(x.ChatKey)+":"+x.MessageID)
		switch turn, known := h.known[id]; {
		case out[i].Err != nil:
		case known:
			out[i].TurnID, out[i].Duplicate = turn, true
		default:
			h.known[id] = out[i].TurnID
			h.accepted = append(h.accepted, x)
		}
	}
	return out
}

// Know makes the host recognise an ingress id of a chat as that of a turn.
func (h *Host) Know(key messages.ChatKey, ingressID, turn string) {
	h.mu.Do(func() { h.known[string(key)+" "+ingressID] = turn })
}

// Status implements [platform.Host].
func (h *Host) Status(up bool, note string) {
	defer h.Signal()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, State{up, note})
}

// Accepted returns what was accepted, without duplicates, in order.
func (h *Host) Accepted() []platform.Inbound {
	return faketest.Get(&h.mu, func() []platform.Inbound { return slices.Clone(h.accepted) })
}

// Offered returns everything that was handed over, including what was refused or repeated.
func (h *Host) Offered() []platform.Inbound {
	return faketest.Get(&h.mu, func() []platform.Inbound { return slices.Clone(h.offered) })
}

// States returns all reports in order.
func (h *Host) States() []State {
	return faketest.Get(&h.mu, func() []State { return slices.Clone(h.states) })
}

// AwaitAccepted waits until n inbounds were accepted and returns them.
func (h *Host) AwaitAccepted(tb testing.TB, n int) []platform.Inbound {
	tb.Helper()
	h.Await(tb, "messages to be taken", func() bool { return len(h.Accepted()) >= n })
	return h.Accepted()
}

// AwaitUp waits until the last report is up.
func (h *Host) AwaitUp(tb testing.TB) {
	tb.Helper()
	h.Await(tb, "the platform to be up", func() bool {
		s := h.States()
		return len(s) > 0 && s[len(s)-1].Up
	})
}
