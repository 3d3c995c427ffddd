package shard

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Reasons why a shard refuses a message. They are for logs and programs.
const (
	reasonStopping = "stopping"
	reasonParked   = "parked: the chat failed again and again, try later"
	reasonFull     = "too much waits for the chat, try later"
)

// waitingMost is how many letters wait for one chat; further ones are refused.
const waitingMost = 256

// refusal is the answer to a refused message. It returns false if the message belongs to work in
// progress, such as a receipt, and must be kept because its sender would not repeat it.
func refusal(msg any, why string) (answer any, ok bool) {
	switch msg := msg.(type) {
	case messages.AcceptIngress:
		return messages.IngressRejected{ChatKey: msg.ChatKey, RequestID: msg.RequestID, Reason: why}, true
	case messages.DecideApproval:
		return messages.ApprovalDecided{ChatKey: msg.ChatKey, Err: why}, true
	case messages.RevokeGrants:
		return messages.GrantsRevoked{ChatKey: msg.ChatKey, Err: why}, true
	case messages.StopRun:
		return messages.RunStopped{ChatKey: msg.ChatKey, Err: why}, true
	case messages.ViewQuery:
		return messages.ViewReply{ChatKey: msg.ChatKey, Err: why}, true
	case messages.RewindChat:
		return messages.ChatRewound{ChatKey: msg.ChatKey, Reason: why}, true
	case messages.ForgetChat:
		return messages.ChatForgotten{ChatKey: msg.ChatKey, Err: why}, true
	case messages.QueueEgress:
		return messages.EgressAnswer{Err: why}, true
	case messages.OutboxQuery:
		return messages.OutboxReply{ChatKey: msg.ChatKey, Err: why}, true
	case messages.RetryParked:
		return messages.ParkedSettled{ChatKey: msg.ChatKey, Err: why}, true
	case messages.DropParked:
		return messages.ParkedSettled{ChatKey: msg.ChatKey, Err: why}, true
	case messages.WatchChat:
		return messages.WatchEnded(msg), true
	}
	return nil, false
}

// begins reports whether a message starts work that a stopping host must not start.
func begins(msg any) bool {
	switch msg.(type) {
	case messages.AcceptIngress, messages.DecideApproval:
		return true
	}
	return false
}

// refuse answers a message that is not accepted.
func (s *shard) refuse(ac actor.Context, msg any, sender *actor.PID, why string) bool {
	answer, ok := refusal(msg, why)
	if ok {
		s.opts.Metrics.refused()
		if sender != nil {
			ac.Send(sender, answer)
		}
	}
	return ok
}

func (s *shard) send(e *entry, l letter) {
	s.sent++
	e.sent = s.sent
	s.root.RequestWithCustomSender(e.pid, l.msg, l.sender)
}

// keep stores a letter for its chat. Above the bound, a message that may be refused is.
func (s *shard) keep(ac actor.Context, e *entry, l letter) {
	switch {
	case e.crash.parked && s.refuse(ac, l.msg, l.sender, reasonParked):
	case len(e.buf) >= waitingMost && s.refuse(ac, l.msg, l.sender, reasonFull):
	default:
		e.buf = append(e.buf, l)
	}
}

// flush sends the waiting letters.
func (s *shard) flush(e *entry) {
	for _, l := range e.buf {
		s.send(e, l)
	}
	e.buf = nil
}
