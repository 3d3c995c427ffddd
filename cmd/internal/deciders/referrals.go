package deciders

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// maxDeciders is how many people are asked in private about one request.
const maxDeciders = 8

// Of returns the people who may decide a request and who have a private chat with the bot of its chat. A task's
// requests are treated as those of the chat that the task belongs to.
func (d *Deciders) Of(c approval.Claim) []approval.Decider {
	bot, people := d.people(c)
	kind, account, _ := strings.Cut(bot, "@")
	service, known := d.Services.Of(kind)
	if !known {
		return nil
	}
	var out []approval.Decider
	for _, who := range people {
		if where, name, reachable := d.privateChat(bot, service, who.Person); reachable && len(out) < maxDeciders {
			who.ChatKey, who.ChatType, who.Name = messages.NewChatKey(kind, account, where, 0), service.PrivateType, cmp.Or(name, who.Name)
			out = append(out, who)
		}
	}
	return out
}

// Named returns who may decide a request, also those who cannot be reached in private. A task's requests are treated as
// in [Deciders.Of].
func (d *Deciders) Named(c approval.Claim) []query.ApprovalDecider {
	var out []query.ApprovalDecider
	if d.May(approval.Claim{ChatKey: c.ChatKey, Platform: nameWeb, Person: string(query.DeciderConsole)}) {
		out = append(out, query.ApprovalDecider{Role: query.DeciderConsole})
	}
	bot, people := d.people(c)
	for _, who := range people {
		out = append(out, query.ApprovalDecider{Role: who.Role, ID: who.Person, Name: cmp.Or(who.Name, d.personName(bot, who.Person))})
	}
	return out
}

// people are those who may decide, each once, with their bot.
func (d *Deciders) people(c approval.Claim) (bot string, out []approval.Decider) {
	if a, ok := c.ChatKey.Address(); ok && a.Platform == "task" {
		if c, ok = d.taskClaim(c); !ok {
			return "", nil
		}
	}
	if d.Access() == nil {
		return "", nil
	}
	c.Platform = groupOf(c.ChatKey).platform
	kind, _, _ := strings.Cut(c.Platform, "@")
	for _, who := range d.candidates(c.Platform, kind, c) {
		c.Person, c.Admin = who.Person, who.Role == approval.DeciderAdmin
		listed := slices.ContainsFunc(out, func(o approval.Decider) bool { return o.Person == who.Person })
		if !listed && mayDecide(d.Approvers(), d.Role, c) {
			out = append(out, who)
		}
	}
	return c.Platform, out
}

// AdminsUnknown reports whether the administrators of a chat's group are unknown, or of the group of a task's chat.
func (d *Deciders) AdminsUnknown(key messages.ChatKey) bool {
	if a, ok := key.Address(); ok && a.Platform == "task" {
		c, known := d.taskClaim(approval.Claim{ChatKey: key})
		return known && c.Group && d.Admins().Unknown(c.ChatKey)
	}
	return d.Admins().Unknown(key)
}

// candidates are the people who might decide, the most important first.
func (d *Deciders) candidates(bot, kind string, c approval.Claim) []approval.Decider {
	var out []approval.Decider
	owner := d.Access().AccessState(bot).Owner
	for _, who := range d.Approvers() {
		switch who {
		case approverOwner:
			if owner != nil {
				out = append(out, approval.Decider{Person: owner.ID, Name: owner.Name, Role: approval.DeciderOwner})
			}
		case approverInitiator:
			out = append(out, approval.Decider{Person: c.Asker, Role: approval.DeciderAsker})
		case approverAdmins:
			for _, id := range d.Admins().list(c.ChatKey) {
				if c.Group {
					out = append(out, approval.Decider{Person: id, Role: approval.DeciderAdmin})
				}
			}
		default:
			named, id, _ := strings.Cut(who, "-")
			if _, other := d.Services.Of(named); named == kind {
				who = id
			} else if other {
				continue
			}
			out = append(out, approval.Decider{Person: who, Role: approval.DeciderApprover})
		}
	}
	return out
}

// privateChat is the chat that a person has with the bot alone, by its id on the platform.
func (d *Deciders) privateChat(bot string, service platforms.Descriptor, person string) (where, name string, ok bool) {
	if known, found := d.Access().Private(bot, person); found {
		return known.Chat, known.Name, true
	}
	// People with a role have a private chat, whose id is known if it is that of the person.
	return person, "", service.PersonIDs && d.Access().Role(bot, person) != platform.RoleStranger
}

// OwnerChat is the private chat of the owner of a chat's bot. A task's chat is treated as the chat that the task belongs
// to.
func (d *Deciders) OwnerChat(key messages.ChatKey) (messages.ChatKey, bool) {
	if c, ok := d.taskClaim(approval.Claim{ChatKey: key}); ok {
		key = c.ChatKey
	}
	bot := groupOf(key).platform
	kind, account, _ := strings.Cut(bot, "@")
	service, known := d.Services.Of(kind)
	if d.Access() == nil || !known {
		return "", false
	}
	owner := d.Access().Account(bot).Owner
	if owner == nil {
		return "", false
	}
	where, _, reachable := d.privateChat(bot, service, owner.ID)
	return messages.NewChatKey(kind, account, where, 0), reachable
}

// OwnerLanguage is the language of the client of the owner of a chat's bot, if it is their private chat. It is empty for
// other chats, and if the language is not known.
func (d *Deciders) OwnerLanguage(key messages.ChatKey) string {
	if private, ok := d.OwnerChat(key); !ok || private != key {
		return ""
	}
	if owner := d.Access().Account(groupOf(key).platform).Owner; owner != nil {
		return owner.Language
	}
	return ""
}

// fireOf is the fire of a task that ran in this chat of its own, if the task belongs to another chat.
func (d *Deciders) fireOf(key messages.ChatKey) (timetable.Fire, bool) {
	id, ok := strings.CutPrefix(string(key), string(timetable.FireChat("")))
	if !ok {
		return timetable.Fire{}, false
	}
	f, found, err := taskfile.NewLog(d.State).Fire(id)
	if err != nil {
		d.Logger.Warn("it is unknown where a task belongs because the log of tasks cannot be read", "error", err)
	}
	return f, found && f.ChatKey != ""
}

// taskClaim turns a claim about a task's chat into one about the chat that the task belongs to. Its asker is who asked
// for the task.
func (d *Deciders) taskClaim(c approval.Claim) (approval.Claim, bool) {
	f, ok := d.fireOf(c.ChatKey)
	if !ok {
		return c, false
	}
	c.ChatKey, c.Asker = f.ChatKey, ""
	a, ok := f.ChatKey.Address()
	if !ok {
		return c, false
	}
	service, _ := d.Services.Of(a.Platform)
	t := d.task(f.Task)
	_, listed := d.groupTitle(f.ChatKey)
	c.Group = listed || messages.IsGroup(t.ChatType, a.Chat)
	if kind, id, _ := strings.Cut(t.MadeBy, "-"); kind == a.Platform {
		c.Asker = id
	}
	if service.PersonIDs && !c.Group {
		c.Asker = a.Chat // the person of a private chat created the task or agreed to it
	}
	return c, true
}

// TaskFacts is the title of the task that runs in a chat, and the chat in which it was created.
func (d *Deciders) TaskFacts(key messages.ChatKey) referral.TaskFacts {
	f, ok := d.fireOf(key)
	c, known := d.taskClaim(approval.Claim{ChatKey: key})
	if !ok || !known || d.Access() == nil {
		return referral.TaskFacts{Title: f.Title, ChatKey: f.ChatKey}
	}
	out := referral.TaskFacts{Title: f.Title, ChatKey: f.ChatKey, Group: c.Group}
	if c.Group {
		out.ChatTitle = d.ChatName(f.ChatKey)
	} else {
		out.Person = cmp.Or(d.ChatName(f.ChatKey), d.personName(groupOf(f.ChatKey).platform, c.Asker), c.Asker)
	}
	return out
}

// task is a task by its id. It is empty if it is not known.
func (d *Deciders) task(id string) timetable.Task {
	t, err := taskfile.New(d.State, time.UTC).Task(id)
	if err != nil && !errors.Is(err, persistence.ErrTask) {
		d.Logger.Warn("it is unknown who created a task because it cannot be read", "error", err)
	}
	return t
}

// personName is the name of a person who has access to a bot, or empty.
func (d *Deciders) personName(bot, person string) string {
	if private, found := d.Access().Private(bot, person); found && private.Name != "" {
		return private.Name
	}
	for _, p := range d.Access().Account(bot).People {
		if p.ID == person {
			return p.Name
		}
	}
	return ""
}

// ChatName is the title of an admitted group, or the name of the person of a private chat. It is empty if unknown.
func (d *Deciders) ChatName(key messages.ChatKey) string {
	a, ok := key.Address()
	if !ok || d.Access() == nil {
		return ""
	}
	if title, is := d.groupTitle(key); is {
		return title
	}
	return d.personName(groupOf(key).platform, a.Chat)
}

func (d *Deciders) groupTitle(key messages.ChatKey) (title string, is bool) {
	if d.Access() == nil {
		return "", false
	}
	of := groupOf(key)
	for _, g := range d.Access().Account(of.platform).Groups {
		if g.ID == of.chat {
			return g.Title, true
		}
	}
	return "", false
}

// AskedAboutTask names the people who are asked about a task's requests.
func (d *Deciders) AskedAboutTask(task messages.ChatKey) (en, zh string) {
	return approval.WhoIsAsked(d.Of(approval.Claim{ChatKey: task}))
}

// acquainted records the private chats of people who may have to be asked for a decision.
type acquainted struct {
	platform.Live

	of *Deciders
}

func (l acquainted) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	for i := range in {
		private := slices.ContainsFunc(l.of.Services, func(s platforms.Descriptor) bool { return s.PrivateType == in[i].Chat.Type })
		if !private || !in[i].Gate.Open || in[i].Sender.IsBot || in[i].Chat.ID == "" {
			continue
		}
		bot := groupOf(in[i].ChatKey).platform
		if !l.of.mightDecide(bot, in[i].Sender.ID) {
			continue
		}
		if err := l.of.Access().NotePrivate(ctx, bot, in[i].Sender, in[i].Chat.ID); err != nil {
			l.of.Logger.Warn("the private chat of somebody who may decide could not be stored", "error", err)
		}
	}
	return l.Live.Accept(ctx, in)
}

// mightDecide reports whether a person may decide in any chat of the bot.
func (d *Deciders) mightDecide(bot, person string) bool {
	kind, _, _ := strings.Cut(bot, "@")
	return slices.ContainsFunc(d.Approvers(), func(who string) bool {
		switch who {
		case approverOwner:
			return d.Access().Role(bot, person) == platform.RoleOwner
		case approverInitiator, approverAdmins:
			return true
		}
		return who == person || who == kind+"-"+person
	})
}

// gatherers is how many chats are asked for their open requests at once.
const gatherers = 16

// GatherRequests shows the open requests of all chats in a person's private chat. It returns how many others are open
// that the person may not decide, but only to the owner.
func (d *Deciders) GatherRequests(ctx context.Context, to messages.ChatKey, person string) (others int) {
	if !d.mightDecide(groupOf(to).platform, person) {
		return 0
	}
	keys, err := d.Waking(ctx)
	if err != nil {
		d.Logger.Warn("the chats with open requests cannot be read", "error", err)
		return 0
	}
	var count atomic.Int64
	var all sync.WaitGroup
	room := make(chan struct{}, gatherers)
	for _, key := range keys {
		if key == to {
			continue
		}
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			answer, err := query.Ask[messages.RequestsReferred](ctx, d.AskChat, messages.ReferRequests{ChatKey: key, To: to, Person: person})
			if err == nil {
				count.Add(int64(answer.Others))
			}
		})
	}
	all.Wait()
	if d.Access().Role(groupOf(to).platform, person) != platform.RoleOwner {
		return 0 // the number of requests elsewhere is for the owner only
	}
	return int(count.Load())
}
