package telegram

import (
	"context"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// listens is what the owner said that the bot listens to in a group; empty: nothing.
func (p *Platform) listens(in platform.Inbound, f facts) string {
	store, ok := p.opts.AccessStore.(Activation)
	if !ok || f.chatType == "private" || f.content != contentMessage {
		return ""
	}
	switch how := store.Listens(p.name, in.Chat.ID); how {
	case GroupsMention, GroupsReply, GroupsCommands, GroupsAll:
		return how
	}
	return ""
}

// readsAll: the settings ask for more of groups than what turns to the bot.
func (o Options) readsAll() bool {
	if o.Groups == GroupsAll || o.FollowUp > 0 {
		return true
	}
	for _, g := range o.Listed {
		if g.Addressed == GroupsAll {
			return true
		}
	}
	return false
}

// activations are the words of /activation and what they mean.
func activations(word string) (listens string, ok bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "mention":
		return GroupsMention, true
	case "reply":
		return GroupsReply, true
	case "commands":
		return GroupsCommands, true
	case "always", "all":
		return GroupsAll, true
	case "default":
		return "", true
	}
	return "", false
}

// activate is the owner's /activation in a group. What was chosen is durable when it
// is confirmed.
func (p *Platform) activate(ctx context.Context, in platform.Inbound, f facts, say words) platform.Inbound {
	store, can := p.opts.AccessStore.(Activation)
	listens, known := activations(in.Command.Args)
	switch {
	case f.role != RoleOwner:
		in.Gate = platform.Gate{Refuse: true, Reason: "owner_only", Notice: say.OwnerOnly}
	case !known || !can:
		in.Gate.Notice = say.activationHelp
	default:
		if err := store.Listen(ctx, p.name, in.Chat.ID, in.Chat.Title, in.Sender.ID, listens); err != nil {
			p.log.Error("what a group listens to could not be kept", "chat", in.Chat.ID, "error", err)
			in.Gate.Notice = say.activationFailed
			return in
		}
		p.log.Info("what a group listens to was changed", "chat", in.Chat.ID, "by", in.Sender.ID, "listens", listens)
		in.Gate.Notice = strings.ReplaceAll(say.activated, "{}", say.listening[listens])
		if me := p.me.Load(); listens == GroupsAll && me != nil && !me.ReadsAll {
			in.Gate.Notice += "\n" + say.privacy
		}
	}
	return in
}
