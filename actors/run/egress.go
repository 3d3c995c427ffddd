package run

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// egressDeadline is a little longer than a chat takes to answer.
const egressDeadline = 20 * time.Second

// errEgress is the outcome if the chat could not be asked.
var errEgress = errors.New("the message could not be queued; try again")

// egress queues messages to people: in the outbox of the run's own chat, which it asks directly, or
// in that of another chat, through the router.
type egress struct {
	root   *actor.RootContext
	chat   *actor.PID
	router *actor.PID
	key    messages.ChatKey
	runID  string
	depth  int64
}

func (r *run) egress() tool.Egress {
	return egress{root: r.home.Root(), chat: r.chat, router: r.Router, key: r.start.ChatKey, runID: r.start.RunID, depth: r.input.Depth}
}

func (e egress) Send(ctx context.Context, callID string, out tool.Outgoing) (tool.Delivery, error) {
	return e.queue(ctx, e.chat, messages.QueueEgress{ChatKey: e.key, RunID: e.runID, CallID: callID, Text: out.Text, ReplyTo: out.ReplyTo, Files: out.Files})
}

func (e egress) SendTo(ctx context.Context, key messages.ChatKey, callID string, out tool.Outgoing) (tool.Delivery, error) {
	return e.queue(ctx, e.router, messages.QueueEgress{ChatKey: key, CallID: e.runID + "/" + callID, Text: out.Text, ReplyTo: out.ReplyTo, Files: out.Files, Depth: e.depth})
}

func (e egress) queue(ctx context.Context, to *actor.PID, msg messages.QueueEgress) (tool.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return tool.Delivery{}, err
	}
	reply, err := e.root.RequestFuture(to, msg, egressDeadline).Result()
	if err != nil {
		return tool.Delivery{}, errors.Join(errEgress, err)
	}
	a, ok := reply.(messages.EgressAnswer)
	switch {
	case !ok:
		return tool.Delivery{}, errEgress
	case a.Err != "":
		return tool.Delivery{}, errors.New(a.Err)
	}
	return tool.Delivery{Delivered: a.Delivered, Parked: a.Parked, Parts: a.Parts, Skipped: a.Skipped}, nil
}
