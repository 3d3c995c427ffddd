package telegram

import (
	"context"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// listens returns what the owner chose that the bot listens to in a group, or an empty string.
func (p *Platform) listens(in platform.Inbound, f botkit.Facts) string {
	if p.opts.AccessStore == nil || f.Private() || f.Content != botkit.ContentMessage {
		return ""
	}
	switch how := p.opts.AccessStore.Listens(p.name, in.Chat.ID); how {
	case platform.GroupsMention, platform.GroupsReply, platform.GroupsCommands, platform.GroupsAll:
		return how
	}
	return ""
}

// activations maps the words of /activation to their meanings.
func activations(word string) (listens string, ok bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "mention":
		return platform.GroupsMention, true
	case "reply":
		return platform.GroupsReply, true
	case "commands":
		return platform.GroupsCommands, true
	case "always", "all":
		return platform.GroupsAll, true
	case "default":
		return "", true
	}
	return "", false
}

// activate handles /activation of the owner in a group. The choice is durable before it is
// confirmed.
func (p *Platform) activate(ctx context.Context, in platform.Inbound, f botkit.Facts, say words) platform.Inbound {
	listens, known := activations(in.Command.Args)
	switch {
	case f.Role != platform.RoleOwner:
		in.Gate = platform.Gate{Refuse: true, Reason: "owner_only", Notice: say.OwnerOnly}
	case !known:
		in.Gate.Notice = say.activationHelp
	default:
		if err := p.opts.AccessStore.Listen(ctx, p.name, in.Chat.ID, in.Chat.Title, in.Sender.ID, listens); err != nil {
			p.log.Error("what the bot listens to in a group could not be stored", "chat", in.Chat.ID, "error", err)
			in.Gate.Notice = say.activationFailed
			return in
		}
		p.log.Info("what the bot listens to in a group was changed", "chat", in.Chat.ID, "by", in.Sender.ID, "listens", listens)
		in.Gate.Notice = strings.ReplaceAll(say.activated, "{}", say.listening[listens])
		if me := p.me.Load(); listens == platform.GroupsAll && me != nil && !me.CanReadAllGroupMessages {
			in.Gate.Notice += "\n" + say.privacy
		}
	}
	return in
}
