package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// service is what the provider bills: for every scope that a limit is for, what calls used, what those of them used that
// no cheaper model answered, and what the ledger has to say of it.
type service struct {
	mu                      sync.Mutex
	billed, dearest, record map[string]int64
	allowed                 map[string]int64 // how often, by scope and unit
	most                    int64            // of one call
}

func newService() service {
	return service{billed: map[string]int64{}, dearest: map[string]int64{}, record: map[string]int64{}, allowed: map[string]int64{}}
}

func (s *service) bill(scopes []string, cheaper bool, billed, record int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scope := range scopes {
		s.billed[scope] += billed
		s.record[scope] += record
		if !cheaper {
			s.dearest[scope] += billed
		}
	}
}

// history is one random history: processes that are killed one after the other, and their concurrent calls.
type history struct {
	r       *rand.Rand
	dir     string
	limits  ledger.Limits
	service service
	// back is set if the clock may be at any time when a process begins. Its runs are its own then, since a run is looked
	// for yesterday and today.
	back    bool
	brisk   bool // several processes in an hour
	process int
	start   time.Duration // of the next process
}

type plan struct {
	call         ledger.Call
	most, billed ledger.Amount
	before, last time.Duration
	allows       bool // the owner allows more if it is refused
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
	call := ledger.Call{Chat: messages.ChatKey(fmt.Sprint("web-chat-", h.r.IntN(3))), Work: "run", Model: "m", Cheaper: h.r.IntN(3) == 0}
	if h.r.IntN(4) > 0 {
		call.Run, call.Person = fmt.Sprint("run", h.r.IntN(6)), fmt.Sprint("web-", h.r.IntN(2))
		if h.back {
			call.Run += fmt.Sprint(" of ", h.process)
		}
	}
	return plan{call, amount(n), amount(billed), h.minutes(12 * 60), h.minutes(3 * 60), h.r.IntN(3) == 0}
}

func (h *history) minutes(most int) time.Duration {
	if h.brisk {
		most /= 24
	}
	return time.Duration(1+h.r.IntN(most)) * time.Minute
}

// run runs calls in a process until it is killed, or until they have ended.
func (h *history) run(t *testing.T, calls int, kill time.Duration) {
	t.Helper()
	<-time.After(h.start)
	h.process++
	l := ledger.Open(h.dir, time.UTC, func(err error) { t.Error(err) })
	set(t, l, h.limits)
	ctx, cancel := context.WithTimeout(t.Context(), kill)
	defer cancel()
	var all sync.WaitGroup
	for range calls {
		p := h.plan()
		all.Go(func() { h.play(ctx, l, p) })
	}
	all.Wait()
}

// scopes are what limits are for: a window and somebody in it, or a run.
func scopes(call ledger.Call) []string {
	out := []string{"Run " + call.Run}
	if call.Run == "" {
		out = nil
	}
	for w, layout := range layouts() {
		at := time.Now().UTC().Format(layout)
		for scope, who := range map[string]string{"Host": "all", "Chat": string(call.Chat), "Person": call.Person} {
			if who != "" {
				out = append(out, fmt.Sprintf("%s %s %s %s", scope, w, at, who))
			}
		}
	}
	return out
}

func layouts() map[window.Window]string {
	return map[window.Window]string{window.Hour: "2006-01-02T15", window.Day: "2006-01-02", window.Month: "2006-01"}
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
	if refused, ok := errors.AsType[*ledger.Exhausted](err); ok && p.allows {
		h.allow(l, refused)
	}
	if err != nil {
		return
	}
	of := scopes(p.call)
	if pause(p.last) {
		h.service.bill(of, p.call.Cheaper, p.billed.Tokens(), p.billed.Tokens())
		r.Settle(p.billed)
		r.Settle(p.most) // a second one does not count
	} else { // the process was killed during the call
		h.service.bill(of, p.call.Cheaper, p.billed.Tokens(), p.most.Tokens())
	}
}

// allow answers the question about a limit, twice.
func (h *history) allow(l *ledger.Ledger, refused *ledger.Exhausted) {
	if refused.Question.Code == "" {
		return
	}
	for range 2 {
		q, ok, err := l.Allow(refused.Question.Code)
		if !ok || err != nil {
			return
		}
		w, _ := window.Of(q.Limit)
		name, money := strings.CutPrefix(q.Limit, "usdPer")
		for scope, who := range map[string]string{"Host": "all", "Chat": string(q.Chat), "Person": q.Person} {
			if strings.EqualFold(name[:len(scope)], scope) {
				at := time.Now().UTC().Format(layouts()[w])
				h.service.mu.Lock()
				h.service.allowed[fmt.Sprintf("%s %s %s %s %t", scope, w, at, who, money)]++
				h.service.mu.Unlock()
			}
		}
	}
}

// tear leaves what a kill in the middle of a write may leave.
func (h *history) tear(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, "*"))
	if err != nil || len(files) == 0 {
		return
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_WRONLY|os.O_APPEND, 0)
	stdtest.Must(t, err)
	_, err = f.WriteString([]string{`{"ts":1,"id":"x`, "\x00\x00\x00", "\n\n", `{"ts":1,"id":"x","is":"spent","in":7}}`}[h.r.IntN(4)])
	stdtest.Must(t, f.Close())
	stdtest.Must(t, err)
}

// limit is the limit of a scope in tokens, or 0.
func (h *history) limit(scope string) int64 {
	kind, rest, _ := strings.Cut(scope, " ")
	of := h.limits.Run
	for w := range layouts() {
		if strings.HasPrefix(rest, w.String()+" ") {
			of = map[string]ledger.Bound{"Host": h.limits.Host[w], "Chat": h.limits.Chat[w], "Person": h.limits.Person[w]}[kind]
		}
	}
	of.Tokens *= 1 + h.service.allowed[scope+" false"]
	of.NanoUSD *= 1 + h.service.allowed[scope+" true"]
	if of.NanoUSD > 0 && (of.Tokens == 0 || of.NanoUSD/10 < of.Tokens) {
		return of.NanoUSD / 10
	}
	return of.Tokens
}

// check holds what was billed against the limits, and what the ledger says against the bills.
func (h *history) check(t *testing.T) {
	t.Helper()
	for scope, billed := range h.service.billed {
		most := h.limit(scope)
		if most > 0 && h.service.dearest[scope] > most+h.service.most {
			t.Errorf("%s: %d billed, the limit is %d", scope, h.service.dearest[scope], most)
		}
		if most > 0 && billed > most*(100+h.limits.CheaperPercent)/100+h.service.most {
			t.Errorf("%s: %d billed with the cheaper model, the limit is %d", scope, billed, most)
		}
	}
	rows, err := ledger.Usage(h.dir, "")
	stdtest.Must(t, err)
	got := map[string]int64{}
	for _, row := range rows {
		for _, scope := range []string{"Host Day " + row.Day + " all", "Chat Day " + row.Day + " " + string(row.Chat), "Person Day " + row.Day + " " + row.Person} {
			got[scope] += row.Tokens()
		}
		if row.NanoUSD != 10*row.Tokens() {
			t.Errorf("%d tokens cost %d", row.Tokens(), row.NanoUSD)
		}
	}
	for scope, want := range h.service.record {
		if strings.Contains(scope, " Day ") && got[scope] != want {
			t.Errorf("%s: the ledger has %d, want %d", scope, got[scope], want)
		}
	}
}

// someLimits are limits of which most are unset.
func someLimits(r *rand.Rand) ledger.Limits {
	bound := func(n int64) ledger.Bound {
		most := func(n int64) int64 { return n * max(0, r.Int64N(5)-2) * (1 + r.Int64N(40)) }
		return ledger.Bound{Tokens: most(n), NanoUSD: most(10 * n)}
	}
	l := ledger.Limits{Run: bound(1), CheaperPercent: []int64{0, 20, 300}[r.IntN(3)], Ask: r.IntN(2) == 0}
	for w, n := range map[window.Window]int64{window.Hour: 1, window.Day: 2, window.Month: 3} {
		l.Person[w], l.Chat[w], l.Host[w] = bound(n), bound(n+1), bound(n+2)
	}
	return l
}

// Whatever calls there are at once, whenever the process is killed, and wherever the clock goes: what is billed exceeds
// no limit, with what the owner has allowed, by more than one reservation, nor a higher limit with what a cheaper model answered, and the ledger has what
// was billed, or what was reserved for calls that a kill cut off.
func TestBillsStayWithinLimits(t *testing.T) {
	const histories = 1000
	dir := t.TempDir()
	for seed := range uint64(histories) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := &history{r: r, dir: filepath.Join(dir, fmt.Sprint(seed)), service: newService(), limits: someLimits(r), back: r.IntN(2) == 0, brisk: r.IntN(2) == 0}
		if !h.limits.Any() {
			h.limits.Host[window.Day].Tokens = 50 // without limits a kill may lose the last second
		}
		day := time.Duration(r.IntN(40)) * 24 * time.Hour
		h.start = day
		for range 1 + r.IntN(3) {
			kill := h.minutes(20 * 60)
			synctest.Test(t, func(t *testing.T) { // every bubble begins at the same time
				h.run(t, 1+r.IntN(12), kill)
				h.tear(t)
			})
			if h.start += kill; h.back {
				h.start = day + h.minutes(60*60)
			}
		}
		h.check(t)
		if t.Failed() {
			t.Fatalf("history %d: %+v", seed, h.limits)
		}
	}
}

// The bills and the ledger are not equal because both are empty.
func TestHistoriesUseMuch(t *testing.T) {
	h := &history{r: rand.New(rand.NewPCG(1, 1)), dir: t.TempDir(), service: newService()}
	h.limits.Host[window.Day].Tokens = 40
	synctest.Test(t, func(t *testing.T) { h.run(t, 60, 24*time.Hour) })
	var most int64
	for scope, n := range h.service.billed {
		if strings.HasPrefix(scope, "Host Day") {
			most = max(most, n)
		}
	}
	if most < 40 {
		t.Errorf("a day is billed %d at most, want the limit", most)
	}
}
