package access

import (
	"context"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

const (
	// endedLife is how long the store remembers that the bot left a group before the owner had
	// decided: services redeliver an event for some hours.
	endedLife = 24 * time.Hour
	// maxEnded is how many ended requests are kept, the latest ones.
	maxEnded = 200
)

// end removes a pending request. It is kept as ended while the owner may see a question about it.
// The message that waited with it is dropped.
func (a *Account) end(i int, outcome platform.Choice, at time.Time) {
	c := a.Codes[i]
	a.Codes = slices.Delete(a.Codes, i, i+1)
	c.First = nil
	if c.Shown.IsZero() && outcome != platform.Withdrawn {
		return
	}
	a.Ended = append(a.Ended, Ended{PairingCode: c, Outcome: outcome, At: at, Seen: c.Shown.IsZero()})
	if n := len(a.Ended); n > maxEnded {
		a.Ended = slices.Clone(a.Ended[n-maxEnded:])
	}
}

// waiting returns the index of the pending request of a person or a group, or -1.
func (a *Account) waiting(id string) int {
	return slices.IndexFunc(a.Codes, func(c Code) bool { return c.For != nil && c.For.ID == id })
}

// leftAfter reports whether the bot is known to have left a group after a given time.
func (a *Account) leftAfter(group string, at time.Time) bool {
	return slices.ContainsFunc(a.Ended, func(e Ended) bool {
		return e.Outcome == platform.Withdrawn && e.For.ID == group && e.Left.After(at)
	})
}

// Withdraw ends the request of a group that the bot has left; left is when it left, by the
// platform's clock.
func (s *Store) Withdraw(ctx context.Context, bot, group string, left time.Time) error {
	if code, _ := s.pending(bot, group); code == "" {
		return nil
	}
	return s.change(ctx, bot, func(a *Account) error {
		i := a.waiting(group)
		if i < 0 || !a.Codes[i].For.Group {
			return errSame
		}
		a.end(i, platform.Withdrawn, s.now().UTC())
		a.Ended[len(a.Ended)-1].Left = left.UTC()
		return nil
	})
}

// Asked records which message asks the owner about a request.
func (s *Store) Asked(ctx context.Context, bot, code, message string) error {
	return s.change(ctx, bot, func(a *Account) error {
		for i := range a.Codes {
			if a.Codes[i].Code == code && a.Codes[i].Message != message {
				a.Codes[i].Message = message
				return nil
			}
		}
		for i := range a.Ended { // it ended before the question was sent
			if e := &a.Ended[i]; e.Code == code && e.Message != message {
				e.Message, e.Seen = message, false
				return nil
			}
		}
		return errSame
	})
}

// Settled records that the owner sees how a request ended.
func (s *Store) Settled(ctx context.Context, bot, code string) error {
	return s.change(ctx, bot, func(a *Account) error {
		for i := range a.Ended {
			if a.Ended[i].Code == code && !a.Ended[i].Seen {
				a.Ended[i].Seen = true
				return nil
			}
		}
		return errSame
	})
}

// forgetEnded removes ended requests that nothing depends on any more.
func (a *Account) forgetEnded(now time.Time) {
	a.Ended = slices.DeleteFunc(a.Ended, func(e Ended) bool {
		return now.Sub(e.At) >= endedLife || e.Seen && e.Outcome != platform.Withdrawn
	})
}
