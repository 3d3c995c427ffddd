package ledger_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// service is what the provider bills: for every scope that a limit is for, what calls used, and what the ledger has to
// say of it.
type service struct {
	mu             sync.Mutex
	billed, record map[string]int64
	most           int64 // of one call
}

func (s *service) bill(scopes []string, billed, record int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scope := range scopes {
		s.billed[scope] += billed
		s.record[scope] += record
	}
}

// history is one random history: processes that are killed one after the other, and their concurrent calls.
type history struct {
	t       *testing.T
	r       *rand.Rand
	dir     string
	limits  ledger.Limits
	service service
}

// plan is what one call does.
type plan struct {
	call         ledger.Call
	most, billed ledger.Amount
	before, last time.Duration
}

// amount is an amount of tokens that costs ten times as much.
func amount(tokens int64) ledger.Amount {
	return ledger.Amount{Input: tokens / 3, Output: tokens - tokens/3, NanoUSD: 10 * tokens}
}

func (h *history) plan() plan {
	const most = 20
	n := 1 + h.r.Int64N(most)
	billed := h.r.Int64N(n + 1)
	if h.r.IntN(5) == 0 {
		billed = 0 // refused
	}
	h.service.most = most
	call := ledger.Call{Chat: messages.ChatKey(fmt.Sprint("web-chat-", h.r.IntN(3))), Work: "run", Model: "m"}
	if h.r.IntN(4) > 0 {
		call.Run = fmt.Sprint("run", h.r.IntN(6))
	}
	hours := func(most int) time.Duration { return time.Duration(h.r.IntN(most*60)) * time.Minute }
	return plan{call, amount(n), amount(billed), hours(12), hours(3)}
}

// process runs calls until it is killed, or until they have ended.
func (h *history) process(calls int, kill time.Duration) {
	l, err := ledger.Open(h.dir, time.UTC, func(err error) { h.t.Error(err) })
	if err != nil {
		h.t.Fatal(err)
	}
	l.SetLimits(h.limits)
	ctx, cancel := context.WithTimeout(h.t.Context(), kill)
	defer cancel()
	var all sync.WaitGroup
	for range calls {
		p := h.plan()
		all.Go(func() { h.play(ctx, l, p) })
	}
	all.Wait()
}

func (h *history) play(ctx context.Context, l *ledger.Ledger, p plan) {
	pause := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-ctx.Done():
			return false
		}
	}
	if !pause(p.before) {
		return
	}
	r, err := l.Reserve(ctx, p.call, func() ledger.Amount { return p.most })
	if err != nil {
		return
	}
	today := time.Now().UTC().Format(time.DateOnly)
	scopes := []string{today, today + " " + string(p.call.Chat)}
	if p.call.Run != "" {
		scopes = append(scopes, p.call.Run)
	}
	if pause(p.last) {
		h.service.bill(scopes, p.billed.Tokens(), p.billed.Tokens())
		r.Settle(p.billed)
		r.Settle(p.most) // a second one does not count
	} else { // the process was killed during the call
		h.service.bill(scopes, p.billed.Tokens(), p.most.Tokens())
	}
}

// tear leaves what a kill in the middle of a write may leave.
func (h *history) tear() {
	files, err := filepath.Glob(filepath.Join(h.dir, "*"))
	if err != nil || len(files) == 0 {
		return
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = f.WriteString([]string{`{"ts":1,"id":"x`, "\x00\x00\x00", "\n\n", `{"ts":1,"id":"x","is":"spent","in":7}}`}[h.r.IntN(4)])
	if err := f.Close(); err != nil {
		h.t.Fatal(err)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// check holds what was billed against the limits, and what the ledger says against the bills.
func (h *history) check() {
	limit := func(scope string) int64 {
		tokens, nano := h.limits.HostTokensPerDay, h.limits.HostNanoUSDPerDay
		switch {
		case scope[0] == 'r':
			tokens, nano = h.limits.RunTokens, h.limits.RunNanoUSD
		case len(scope) > len(time.DateOnly):
			tokens, nano = h.limits.ChatTokensPerDay, h.limits.ChatNanoUSDPerDay
		}
		if nano > 0 && (tokens == 0 || nano/10 < tokens) {
			return nano / 10
		}
		return tokens
	}
	for scope, billed := range h.service.billed {
		if most := limit(scope); most > 0 && billed > most+h.service.most {
			h.t.Errorf("%s: %d billed, the limit is %d", scope, billed, most)
		}
	}
	rows, err := ledger.Usage(h.dir, "")
	if err != nil {
		h.t.Fatal(err)
	}
	got := map[string]int64{}
	for _, row := range rows {
		got[row.Day] += row.Tokens()
		got[row.Day+" "+string(row.Chat)] += row.Tokens()
		if row.NanoUSD != 10*row.Tokens() {
			h.t.Errorf("%d tokens cost %d", row.Tokens(), row.NanoUSD)
		}
	}
	for scope, want := range h.service.record {
		if scope[0] != 'r' && got[scope] != want {
			h.t.Errorf("%s: the ledger has %d, want %d", scope, got[scope], want)
		}
	}
}

// Whatever calls there are at once, and whenever the process is killed: what is billed exceeds no limit by more than
// one reservation, and the ledger has what was billed, or what was reserved for calls that a kill cut off.
func TestBillsStayWithinLimits(t *testing.T) {
	const histories = 1000
	dir := t.TempDir()
	for seed := range uint64(histories) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			h := &history{t: t, r: r, dir: filepath.Join(dir, fmt.Sprint(seed)), service: service{billed: map[string]int64{}, record: map[string]int64{}}}
			most := func(n int64) int64 { return n * r.Int64N(3) * (1 + r.Int64N(40)) }
			h.limits = ledger.Limits{
				RunTokens: most(1), ChatTokensPerDay: most(2), HostTokensPerDay: most(3),
				RunNanoUSD: most(10), ChatNanoUSDPerDay: most(20), HostNanoUSDPerDay: most(30),
			}
			if h.limits == (ledger.Limits{}) {
				h.limits.HostTokensPerDay = 50 // without limits a kill may lose the last second
			}
			for range 1 + r.IntN(3) {
				h.process(1+r.IntN(12), time.Duration(1+r.IntN(20))*time.Hour)
				h.tear()
			}
			h.check()
		})
		if t.Failed() {
			t.Fatalf("history %d", seed)
		}
	}
}

// The bills and the ledger are not equal because both are empty.
func TestHistoriesUseMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{t: t, r: rand.New(rand.NewPCG(1, 1)), dir: t.TempDir(), service: service{billed: map[string]int64{}, record: map[string]int64{}}}
		h.limits.HostTokensPerDay = 40
		h.process(60, 24*time.Hour)
		days := slices.Sorted(func(yield func(int64) bool) {
			for scope, n := range h.service.billed {
				if len(scope) == len(time.DateOnly) && !yield(n) {
					return
				}
			}
		})
		if len(days) == 0 || days[len(days)-1] < 40 {
			t.Errorf("the days are billed %v, want at least the limit", days)
		}
	})
}
