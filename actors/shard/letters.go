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

// begins reports whether a message starts work that a stopping host must not start.
func begins(msg any) bool {
	switch msg.(type) {
	case messages.AcceptIngress, messages.DecideApproval, messages.ForgetChat:
		return true
	}
	return false
}

// refuse answers a message that is not accepted. It returns false if the message belongs to work in
// progress, such as a receipt, and must be kept.
func (s *shard) refuse(ac actor.Context, msg any, sender *actor.PID, why string) bool {
	answer := messages.Refusal(msg, why)
	if answer == nil {
		return false
	}
	s.opts.Metrics.refused()
	if sender != nil {
		ac.Send(sender, answer)
	}
	return true
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
