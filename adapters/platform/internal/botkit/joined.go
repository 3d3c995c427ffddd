package botkit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// settleDeadline bounds the time for showing one outcome, and settleAgain is the pause after a
	// failure.
	settleDeadline = 15 * time.Second
	settleAgain    = 30 * time.Second
)

// Membership reports that the bot was added to a group, or is no longer in it. Other people chose
// everything in it.
type Membership struct {
	Group platform.ChatInfo
	By    platform.Person // who did it; without an id if unknown
	In    bool
	At    time.Time // by the platform's clock
	// Listed: the settings name the group and thereby allow it.
	Listed bool
}

// Joined records that the owner has to be asked about a group to which somebody has added the bot,
// or withdraws such a question. It does not give access. Repeating it changes nothing.
func (d *Admission) Joined(ctx context.Context, m Membership) error {
	if d.store == nil {
		return nil
	}
	if !m.In {
		return d.store.Withdraw(ctx, d.bot, m.Group.ID, m.At)
	}
	if m.Listed || d.access() == platform.AccessOpen || d.store.GroupAllowed(d.bot, m.Group.ID) || d.blocked(m.Group.ID) || d.blocked(m.By.ID) {
		return nil
	}
	_, fresh, err := d.store.Request(ctx, d.bot, platform.AccessRequest{
		Who: platform.Person{ID: m.Group.ID, Name: m.Group.Title}, Group: true, Adder: &m.By, At: m.At,
	})
	if fresh {
		d.log.Info("the bot was added to a group that may not use it", "chat", m.Group.ID, "by", m.By.ID)
	}
	return err
}

// Asked records which message asks the owner about the requests named by its asks.
func (d *Admission) Asked(ctx context.Context, message string, asks []messages.Ask) {
	for _, a := range asks {
		code, ok := strings.CutPrefix(a.ApprovalID, AskPrefix)
		if !ok || d.store == nil {
			continue
		}
		if err := d.store.Asked(ctx, d.bot, code, message); err != nil {
			d.log.Warn("which message asks the owner could not be stored; its buttons remain if the request ends elsewhere", "error", err)
		}
	}
}

// settle replaces obsolete buttons by the outcomes of their requests, in the background.
func (d *Admission) settle(b Bot, a platform.AccessState) {
	due := slices.ContainsFunc(a.Ended, unsettled)
	if !due || b.Settle == nil || !d.settling.TryLock() {
		return
	}
	if d.now().Before(d.settleAt) {
		d.settling.Unlock()
		return
	}
	b.Life.Go(func(ctx context.Context) {
		defer d.settling.Unlock()
		d.settleAll(ctx, b)
	})
}

func unsettled(e platform.Ended) bool { return !e.Seen && e.Message != "" }

// settleAll also settles requests that end meanwhile. The caller holds the lock.
func (d *Admission) settleAll(ctx context.Context, b Bot) {
	for {
		a := d.store.AccessState(d.bot)
		i := slices.IndexFunc(a.Ended, unsettled)
		if i < 0 || a.Owner == nil || ctx.Err() != nil {
			return
		}
		if err := d.settleOne(ctx, b, *a.Owner, a.Ended[i]); err != nil {
			d.log.Warn("the outcome of a request for access cannot be shown to the owner now", "error", err)
			d.settleAt = d.now().Add(settleAgain)
			return
		}
	}
}

// settleOne returns an error if it has to be repeated.
func (d *Admission) settleOne(ctx context.Context, b Bot, owner platform.Visitor, e platform.Ended) error {
	short, cancel := context.WithTimeout(ctx, settleDeadline)
	defer cancel()
	say := b.wordsFor(owner)
	err := b.Settle(short, Question{
		Chat: cmp.Or(owner.Chat, owner.ID), Message: e.Message, Text: question(say, owner, e.PairingCode), Ask: askAbout(say, e.PairingCode),
		Outcome: Outcome(say, e.Outcome),
	})
	failed, refused := errors.AsType[*platform.Error](err)
	switch {
	case err != nil && (!refused || failed.Retryable || failed.Reason == platform.SendAuth):
		return err
	case err != nil:
		d.log.Warn("the outcome of a request for access could not replace its buttons", "error", err)
	}
	return d.store.Settled(ctx, d.bot, e.Code)
}

// Outcome words the end of a request, to replace its buttons. It is empty for an unknown choice.
func Outcome(say notices.Words, c platform.Choice) string {
	switch c {
	case platform.LetIn:
		return "✅ " + say.InDone
	case platform.LetOnce:
		return "☝️ " + say.OnceDone
	case platform.Block:
		return "🚫 " + say.BlockDone
	case platform.Withdrawn:
		return "⏹ " + say.GoneDone
	}
	return ""
}
