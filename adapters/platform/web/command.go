package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// hostAnswer is a message from the host. It is not part of any history.
type hostAnswer struct {
	id, text string
}

// hint is a command in the list that pages show.
type hint struct {
	Name string `json:"name"`
	Help string `json:"help"`
}

// hints returns the commands in the reader's language.
func (p *Platform) hints(chinese bool) []hint {
	out := []hint{}
	for _, c := range p.opts.Commands {
		help := c.English
		if chinese {
			help = c.Chinese
		}
		out = append(out, hint{c.Name, help})
	}
	return out
}

// parseCommand parses "/name args". A command that names a bot is for none here.
func parseCommand(text string) (platform.Command, bool) {
	name, bot, args, ok := botkit.ParseCommand(strings.TrimSpace(text))
	if !ok || bot != "" {
		return platform.Command{}, false
	}
	return platform.Command{Name: name, Args: args}, true
}

// commandIn returns the command of a request that is nothing but a command. The host also answers
// unknown commands.
func (p *Platform) commandIn(req request.Chat) (platform.Command, bool) {
	if req.Trigger == request.Regenerate || req.Last.Role != uimessage.RoleUser {
		return platform.Command{}, false
	}
	said, refusal := request.WordsOf(req.ID, req.Last)
	if refusal != nil || len(said.Parts) > 0 {
		return platform.Command{}, false
	}
	return parseCommand(said.Text)
}

// programCommand returns the command in a program's instructions, if programs may use it. All other
// instructions go to the model as text.
func (p *Platform) programCommand(text string) (platform.Command, bool) {
	cmd, ok := parseCommand(text)
	known := ok && slices.ContainsFunc(p.opts.Commands, func(c Command) bool { return c.Name == cmd.Name && c.API })
	return cmd, known
}

// knows reports whether a request is about a turn of the history: that is an edit or a repetition,
// whatever its text.
func knows(view platform.ChatView, req request.Chat) bool {
	for _, id := range []string{req.Last.ID, req.MessageID} {
		if request.Index(view.Messages, id) >= 0 || request.Index(view.Waiting, id) >= 0 {
			return true
		}
	}
	_, known := request.ByIngress(view, req.Ingress)
	return known
}

// obey passes a command to the host and waits for its answer.
func (p *Platform) obey(ctx context.Context, key messages.ChatKey, req request.Chat, cmd platform.Command) (accepted, *respond.Problem) {
	id := cmp.Or(req.MessageID, req.Last.ID, request.NewID("m-"))
	if refusal := request.BadMessageID(id); refusal != nil {
		return accepted{}, refusal
	}
	in := p.inbound(key, req.ID)
	in.TurnID, in.MessageID, in.IngressID = id, id, cmp.Or(req.Ingress, id)
	if req.MessageID != "" { // an edited command is a new one
		in.IngressID = cmp.Or(req.Ingress, request.NewID(id+"~"))
	}
	in.Text, in.Command = "/"+cmd.Name, cmd
	in.RequestID = request.MessageRequestID(in)
	text, refusal := p.command(ctx, in, cmd)
	return accepted{turn: id, said: &hostAnswer{id: "h:" + in.IngressID, text: text}}, refusal
}

// command returns the host's answer to a command.
func (p *Platform) command(ctx context.Context, in platform.Inbound, cmd platform.Command) (string, *respond.Problem) {
	in.Kind, in.Command = platform.KindCommand, cmd
	res, refusal := p.handOver(ctx, in)
	if refusal == nil && res.Duplicate {
		var view platform.ChatView
		if view, refusal = p.look(ctx, in.ChatKey); refusal == nil {
			_, refusal = request.DecidedBefore(view, in)
		}
	}
	return res.Answer, refusal
}

// executeCommand answers instructions that are a command. Otherwise both results are nil.
func (p *Platform) executeCommand(ctx context.Context, in *platform.Inbound) (*executeResult, *respond.Problem) {
	cmd, ok := p.programCommand(in.Text)
	if !ok {
		return nil, nil //nolint:nilnil // nil is the answer: it is not a command.
	}
	in.Text = "/" + cmd.Name
	text, refusal := p.command(ctx, *in, cmd)
	if refusal != nil {
		return nil, refusal
	}
	return &executeResult{outcome: outcome{State: turnAnswered}, Success: true, Output: text, ToolCalls: []executeCall{}}, nil
}

// say streams a message from the host.
func (s *stream) say(a hostAnswer) error {
	const block = "0"
	return s.end(
		uistream.Start{MessageID: uimessage.Some(a.id)},
		uistream.TextStart{ID: block},
		uistream.TextDelta{ID: block, Delta: a.text},
		uistream.TextEnd{ID: block},
		uistream.Finish{Reason: uistream.FinishStop},
	)
}
