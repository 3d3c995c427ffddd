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
	// settleDeadline bounds how long one outcome may take to be shown, and settleAgain is the
	// pause after one could not be.
	settleDeadline = 15 * time.Second
	settleAgain    = 30 * time.Second
)

// Membership is that the bot was added to a group, or is not in it any more. Everything in it
// was chosen by others.
type Membership struct {
	Group platform.ChatInfo
	By    platform.Person // who did it; without an id: unknown
	In    bool
	At    time.Time // by the platform's clock
	// Listed: the settings let the group in.
	Listed bool
}

// Joined keeps that the owner has to be asked about a group that somebody has added the bot
// to, or takes such a question back. This lets nothing in. Repeating it changes
// nothing.
func (d *Admission) Joined(ctx context.Context, m Membership) error {
	if d.store == nil {
		return nil
	}
	if !m.In {
		return d.store.Withdraw(ctx, d.bot, m.Group.ID, m.At)
	}
	if m.Listed || d.access == platform.AccessOpen || d.store.GroupAllowed(d.bot, m.Group.ID) || d.blocked(m.Group.ID) || d.blocked(m.By.ID) {
		return nil
	}
	_, fresh, err := d.store.Request(ctx, d.bot, platform.Wish{
		Who: platform.Person{ID: m.Group.ID, Name: m.Group.Title}, Group: true, Adder: &m.By, At: m.At,
	})
	if fresh {
		d.log.Info("the bot was added to a group that is not let in", "chat", m.Group.ID, "by", m.By.ID)
	}
	return err
}

// Asked notes which message asks the owner about those whom its asks name.
func (d *Admission) Asked(ctx context.Context, message string, asks []messages.Ask) {
	for _, a := range asks {
		code, ok := strings.CutPrefix(a.ApprovalID, AskPrefix)
		if !ok || d.store == nil {
			continue
		}
		if err := d.store.Asked(ctx, d.bot, code, message); err != nil {
			d.log.Warn("it could not be noted which message asks the owner; its buttons stay when the request ends otherwise", "error", err)
		}
	}
}

// settle replaces, in the background, buttons that mean nothing any more by the outcomes of
// their requests.
func (d *Admission) settle(b Bot, a platform.Guests) {
	due := slices.ContainsFunc(a.Ended, unsettled)
	if !due || b.Settle == nil || !d.settling.TryLock() {
		return
	}
	if d.now().Before(d.settleAt) {
		d.settling.Unlock()
		return
	}
	b.Go(func(ctx context.Context) {
		defer d.settling.Unlock()
		d.settleAll(ctx, b)
	})
}

func unsettled(e platform.Ended) bool { return !e.Seen && e.Message != "" }

// settleAll is called with the lock held. What ends meanwhile is settled, too.
func (d *Admission) settleAll(ctx context.Context, b Bot) {
	for {
		a := d.store.Guests(d.bot)
		i := slices.IndexFunc(a.Ended, unsettled)
		if i < 0 || a.Owner == nil || ctx.Err() != nil {
			return
		}
		if err := d.settleOne(ctx, b, *a.Owner, a.Ended[i]); err != nil {
			d.log.Warn("the owner cannot be shown now how a request to be let in ended", "error", err)
			d.settleAt = d.now().Add(settleAgain)
			return
		}
	}
}

// settleOne returns an error where it has to be done again.
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
		d.log.Warn("how a request to be let in ended could not be shown in the place of its buttons", "error", err)
	}
	return d.store.Settled(ctx, d.bot, e.Code)
}

// Outcome is how a request ended, in the place of its buttons; empty: there is no such choice.
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
