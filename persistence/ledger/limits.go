package ledger

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/window"
)

// Bound is the most that may be used, in tokens and billionths of a US dollar; 0 means no limit.
type Bound struct{ Tokens, NanoUSD int64 }

// Limits are what may be used by a run, and by a person, a chat and all of the host in each [window.Window].
type Limits struct {
	Run                Bound
	Person, Chat, Host [window.Count]Bound
	// CheaperPercent is how much more than every limit the calls of a cheaper model may use.
	CheaperPercent int64
	// Ask is set if the owner is asked for more where a limit of a window refuses a call.
	Ask bool
}

// Any reports whether there is a limit.
func (l Limits) Any() bool {
	l.CheaperPercent, l.Ask = 0, false
	return l != Limits{}
}

// in reports whether there is a limit for a window.
func (l Limits) in(w window.Window) bool {
	return [...]Bound{l.Person[w], l.Chat[w], l.Host[w]} != [3]Bound{}
}

// Exhausted is the error of a call that a limit refuses. The limit is named as the setting of people.
type Exhausted struct {
	Limit string
	// Question is what the owner is asked; its code is empty if nothing is asked. First is set the first time that this
	// process has the question.
	Question Question
	First    bool
}

// Error implements error.
func (e *Exhausted) Error() string { return "the limit " + e.Limit + " is reached" }

// name is the setting of a limit for a run ("Run", and no window), a person, a chat or the host.
func name(scope, window string, money bool) string {
	if window != "" {
		window = "Per" + window
	}
	if money {
		return "usdPer" + scope + window
	}
	return strings.ToLower(scope[:1]) + scope[1:] + "Tokens" + window
}

// scopeOf is what a limit of a window is for, by its name.
func scopeOf(limit string) (scope string, money bool) {
	rest, money := strings.CutPrefix(limit, "usdPer")
	for _, scope := range []string{"Person", "Chat", "Host"} {
		if strings.HasPrefix(strings.ToLower(rest), strings.ToLower(scope)) {
			return scope, money
		}
	}
	return "", money
}

// check holds what the run, the person, the chat and the host of a call have used against the limits.
func (l *Ledger) check(call Call, run *tally) (wait <-chan struct{}, err error) {
	waits, err := l.hold(call, run, l.limits.Run, "Run", "")
	for w, p := range l.now {
		if p == nil {
			continue
		}
		for _, of := range [...]struct {
			scope string
			t     *tally
			most  Bound
		}{
			{"Person", p.persons[call.Person], l.limits.Person[w]},
			{"Chat", p.chats[call.Chat], l.limits.Chat[w]},
			{"Host", &p.host, l.limits.Host[w]},
		} {
			if err != nil {
				return nil, err
			}
			if of.t != nil {
				var more bool
				more, err = l.hold(call, of.t, of.most, of.scope, window.Window(w).String())
				waits = waits || more
			}
		}
	}
	if !waits || err != nil {
		return nil, err
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed, nil
}

// hold holds one tally against its limits. It reports whether only reservations keep the call out.
func (l *Ledger) hold(call Call, t *tally, most Bound, scope, window string) (waits bool, err error) {
	most = t.bound(most)
	for _, c := range [...]struct {
		money                 bool
		most, spent, reserved int64
	}{
		{false, most.Tokens, t.spent.Tokens(), t.reserved.Tokens()},
		{true, most.NanoUSD, t.spent.NanoUSD, t.reserved.NanoUSD},
	} {
		if call.Cheaper {
			c.most += c.most * l.limits.CheaperPercent / 100
		}
		switch {
		case c.most <= 0:
		case c.spent >= c.most:
			return false, &Exhausted{Limit: name(scope, window, c.money)}
		case c.spent+c.reserved >= c.most:
			waits = true
		}
	}
	return waits, nil
}
