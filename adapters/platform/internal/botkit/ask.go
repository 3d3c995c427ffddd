package botkit

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// askedPerHour is how many access requests the owner is shown per hour. The others stay
	// pending; /allow lists them.
	askedPerHour = 5
	// listed is how many pending requests /allow names.
	listed = 20
	// shownName is the number of characters of a name that people are shown.
	shownName = 60
)

// AskPrefix begins the id of an ask about access; the request's code follows.
const AskPrefix = "let-in:"

// pasted reports whether the owner's message consists only of the code of a pending request.
func (d *Admission) pasted(in platform.Inbound) bool {
	if d.store == nil || in.Kind != platform.KindMessage || in.Forwarded || len(in.Parts) > 0 || len(in.Text) < 8 || len(in.Text) > 40 || strings.Contains(strings.TrimSpace(in.Text), "\n") {
		return false
	}
	_, ok := d.store.Waits(d.bot, in.Text)
	return ok
}

func (d *Admission) blocked(chat string) bool {
	return d.store != nil && d.store.Role(d.bot, chat) == platform.RoleBlocked
}

// owner returns the owner, or nil if there is none.
func (d *Admission) owner() *platform.Visitor {
	if d.store == nil {
		return nil
	}
	return d.store.AccessState(d.bot).Owner
}

// RecordOwnersChat stores the owner's private chat with the bot, which not every platform can derive from the
// owner's id.
func (d *Admission) RecordOwnersChat(ctx context.Context, in platform.Inbound) {
	if owner := d.owner(); owner == nil || owner.ID != in.Sender.ID || owner.Chat == in.Chat.ID {
		return
	}
	if err := d.store.Meet(ctx, d.bot, in.Chat.ID); err != nil {
		d.log.Warn("the owner's private chat could not be stored", "error", err)
	}
}

// request records a stranger's access request. The stranger gets one polite notice while it is
// pending.
func (d *Admission) request(ctx context.Context, g Request) string {
	if d.access() != platform.AccessPaired {
		if !d.notices.Pass("owner only " + g.In.Sender.ID) {
			return ""
		}
		return g.Say.NotOpen
	}
	raw := g.Raw
	if g.In.Kind != platform.KindMessage {
		raw = nil // a mere greeting; the next message waits instead
	}
	wish := platform.AccessRequest{Who: g.In.Sender, First: raw}
	if chat := g.In.Chat.ID; chat != wish.Who.ID {
		wish.Chat = chat
	}
	code, fresh, err := d.store.Request(ctx, d.bot, wish)
	if err != nil && d.notices.Pass("not kept "+g.In.Sender.ID) {
		d.log.Warn("a stranger's request could not be stored", "user", g.In.Sender.ID, "error", err)
	}
	if err != nil || !fresh {
		return ""
	}
	return notices.Fill(g.Say.NotPaired, code)
}

// askGroup records the access request of a group.
func (d *Admission) askGroup(ctx context.Context, in platform.Inbound) {
	group := platform.Person{ID: in.Chat.ID, Name: in.Chat.Title}
	if _, _, err := d.store.Request(ctx, d.bot, platform.AccessRequest{Who: group, Group: true}); err != nil {
		d.log.Warn("a group's request could not be stored", "chat", in.Chat.ID, "error", err)
	}
}

// waiting lists the pending requests for the owner.
func (d *Admission) waiting(say notices.Words) string {
	var lines []string
	for _, c := range d.store.AccessState(d.bot).Codes {
		if c.For != nil && len(lines) < listed {
			lines = append(lines, c.Code+" · "+nameOf(*c.For))
		}
	}
	if len(lines) == 0 {
		return say.NoneWaiting
	}
	return say.WhoWaits + "\n\n" + strings.Join(lines, "\n")
}

// nameOf returns a visitor's name for the owner: the name that they chose, quoted and stripped of
// anything that could pass for our own text, and the id, which people cannot choose.
func nameOf(p platform.Visitor) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("“”@", r):
			return '·'
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1 // control characters and marks that change how the rest is displayed
	}, p.Name)
	if r := []rune(strings.Join(strings.Fields(name), " ")); len(r) > shownName {
		name = string(r[:shownName]) + "…"
	}
	if strings.TrimSpace(name) == "" {
		name = "?"
	}
	if p.Name == "" || p.Name == p.ID { // the platform does not provide names
		return platform.Inert(p.ID)
	}
	return "“" + platform.Inert(name) + "” (" + platform.Inert(p.ID) + ")"
}

// Bot is what the admission needs of its platform to write to people on its own.
type Bot struct {
	Life *Lifecycle // hands messages over, and runs longer work
	// Key returns the chat key of a private chat or group.
	Key func(chat string) messages.ChatKey
	// Words returns the texts in the language chosen for a chat, or else in the person's language.
	Words func(chat messages.ChatKey, language string) notices.Words
	// PrivateType is the platform's name for private chats.
	PrivateType string
	// Again reads a waiting message; ok is false if it can no longer be read.
	Again func(ctx context.Context, raw json.RawMessage) (platform.Inbound, bool)
	// Settle replaces the buttons of a question to the owner by an outcome. Errors are
	// [*platform.Error]. Calls never overlap.
	Settle func(ctx context.Context, q Question) error
}

// wordsFor returns the texts for a visitor's private chat, or for a group.
func (b Bot) wordsFor(to platform.Visitor) notices.Words {
	return b.Words(b.Key(cmp.Or(to.Chat, to.ID)), to.Language)
}

// Question is a message that asked the owner about a visitor, and its outcome.
type Question struct {
	Chat, Message string // the platform's ids
	Text          string
	Ask           messages.Ask
	Outcome       string // replaces the buttons
}

// SendDue sends what is due: one message to the owner for each pending request, and a notice to the
// people who were given access, whose first messages are then answered. Each is made durable before
// it is removed here, and has a permanent id, so that repeating it sends nothing twice. What a chat
// does not take now is due again.
func (d *Admission) SendDue(ctx context.Context, b Bot) {
	if d.store == nil {
		return
	}
	a := d.store.AccessState(d.bot)
	for _, x := range a.Arrivals {
		d.welcome(ctx, b, a.Owner, x)
	}
	if a.Owner == nil {
		return
	}
	d.askOwner(ctx, b, a)
	d.settle(b, a)
}

// askOwner asks about pending requests: about a few per hour, and about all groups to which the
// owner has added the bot.
func (d *Admission) askOwner(ctx context.Context, b Bot, a platform.AccessState) {
	say, shown, more := b.wordsFor(*a.Owner), shownLately(a, d.now()), false
	for _, c := range a.Codes {
		if c.For == nil || !c.Shown.IsZero() {
			continue
		}
		if own := ownersDoing(*a.Owner, c); !own && shown >= askedPerHour {
			more = true
			continue
		} else if !own {
			shown++
		}
		if !b.Life.Offer(ctx, d.word(b, *a.Owner, c.Code, question(say, *a.Owner, c), []messages.Ask{askAbout(say, c)})) {
			return
		}
		if err := d.store.Shown(ctx, d.bot, c.Code); err != nil {
			d.log.Warn("it could not be stored that the owner was asked", "error", err)
			return
		}
	}
	if more {
		b.Life.Offer(ctx, d.word(b, *a.Owner, "more:"+d.now().UTC().Format("2006010215"), say.MoreWait, nil))
	}
}

// shownLately counts the questions shown to the owner within the last hour that other people
// caused, including those withdrawn since.
func shownLately(a platform.AccessState, now time.Time) (n int) {
	lately := func(c platform.PairingCode) bool {
		return c.For != nil && !c.Shown.IsZero() && now.Sub(c.Shown) < time.Hour && !ownersDoing(*a.Owner, c)
	}
	for _, c := range a.Codes {
		if lately(c) {
			n++
		}
	}
	for _, e := range a.Ended {
		if e.Outcome == platform.Withdrawn && lately(e.PairingCode) {
			n++
		}
	}
	return n
}

// ownersDoing reports whether the owner has added the bot to the requesting group.
func ownersDoing(owner platform.Visitor, c platform.PairingCode) bool {
	return c.Adder != nil && c.Adder.ID == owner.ID
}

// question words a question to the owner about a pending request.
func question(say notices.Words, owner platform.Visitor, c platform.PairingCode) string {
	switch who := nameOf(*c.For); {
	case !c.For.Group:
		return notices.Fill(say.WantsIn, who)
	case c.Adder == nil:
		return notices.Fill(say.GroupWantsIn, who)
	case ownersDoing(owner, c):
		return notices.Fill(say.GroupYouAdded, who)
	default:
		return notices.Fill(say.GroupAdded, nameOf(*c.Adder), who)
	}
}

func askAbout(say notices.Words, c platform.PairingCode) messages.Ask {
	return messages.Ask{ApprovalID: AskPrefix + c.Code, Label: askKind(*c.For), Chinese: say.IsChinese}
}

// KindGroup labels an ask about a group, for which there is no single-use access.
const KindGroup = "group"

func askKind(p platform.Visitor) string {
	if p.Group {
		return KindGroup
	}
	return "person"
}

// word returns a message from the host to a visitor's private chat, in the form of a command that
// has already been carried out.
func (d *Admission) word(b Bot, to platform.Visitor, id, text string, asks []messages.Ask) platform.Inbound {
	chat := cmp.Or(to.Chat, to.ID)
	id = "access:" + id
	return platform.Inbound{
		ChatKey: b.Key(chat), IngressID: id, RequestID: "access-" + id, Kind: platform.KindCommand, Command: platform.Command{Name: "access"}, Text: "/access",
		Chat: platform.ChatInfo{ID: chat, Type: b.PrivateType}, Sender: platform.Person{ID: to.ID, Name: to.Name}, Time: d.now(),
		TurnID: "u:" + string(b.Key(chat)) + ":" + id,
		Gate:   platform.Gate{Open: true, Reason: "access", Notice: text, Asks: asks},
	}
}

// welcome notifies a visitor of their access and hands over their first message.
func (d *Admission) welcome(ctx context.Context, b Bot, owner *platform.Visitor, x platform.Arrival) {
	reader := x.Who
	if x.Who.Group && owner != nil { // groups have no language of their own
		reader = *owner
	}
	say := b.wordsFor(reader)
	var first platform.Inbound
	waited := false
	if len(x.First) > 0 {
		first, waited = b.Again(ctx, x.First)
	}
	text := say.LetIn
	switch {
	case x.Who.Group:
		text = say.GroupAllowed
	case x.Once && waited:
		text = say.LetOnce
	case x.Once:
		text = say.LetOnceAgain
	case !waited:
		text = say.ApprovedNow
	}
	to := x.Who
	if waited {
		to.Chat = first.Chat.ID
	}
	word := d.word(b, to, x.Code+":in", text, nil)
	if x.Who.Group {
		word.Chat.Type = messages.ChatGroup
	}
	if !b.Life.Offer(ctx, word) {
		return
	}
	if waited {
		first.IngressID += "~in"
		first.Gate = platform.Gate{Open: true, Reason: "let_in"}
		if !b.Life.Offer(ctx, first) {
			return
		}
	}
	if err := d.store.Arrived(ctx, d.bot, x.Code); err != nil {
		d.log.Warn("it could not be stored that a person was let in", "error", err)
		return
	}
	d.log.Info("a person was let in", "user", x.Who.ID, "once", x.Once)
}
