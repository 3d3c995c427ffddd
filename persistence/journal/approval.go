package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Answer is how a request for approval ended.
type Answer string

// The answers. A request with AnswerOpen has not ended.
const (
	AnswerOpen      Answer = ""
	AnswerApproved  Answer = "approved"
	AnswerDenied    Answer = "denied"
	AnswerExpired   Answer = "expired"   // not decided in time
	AnswerWithdrawn Answer = "withdrawn" // withdrawn by the host, for example after a stop or a rewind
)

// decides reports whether a person gave the answer. Only such an answer continues the run.
func (a Answer) decides() bool { return a == AnswerApproved || a == AnswerDenied }

// Request is an approval request for a call of an assistant message. It is kept in the metadata of the message; the
// call itself is one of its parts.
type Request struct {
	ID      string `json:"id"` // of the approval
	CallID  string `json:"callId"`
	N       int    `json:"n"`      // number by which people refer to it
	Digest  string `json:"digest"` // of the tool's name, the exact input and Bind
	Asker   string `json:"asker,omitempty"`
	Asked   int64  `json:"asked"`   // unix milliseconds
	Expires int64  `json:"expires"` // unix milliseconds

	Explained

	Answer    Answer `json:"answer,omitempty"`
	By        string `json:"by,omitempty"`
	ByName    string `json:"byName,omitempty"` // name of the person who decided
	Reason    string `json:"reason,omitempty"`
	At        int64  `json:"at,omitempty"`
	RequestID string `json:"requestId,omitempty"` // of the decision
	// Via is the message of a private chat that decided the request; see [Referral].
	Via string `json:"via,omitempty"`
	// Late is set if the message was no longer the last one when the request ended. The model then continues to see
	// the call as waiting; only people see the answer there.
	Late bool `json:"late,omitempty"`
	// Outcome is the message with the copy of the call that a late decision applies to.
	Outcome string `json:"outcome,omitempty"`
}

// Explained is what people are shown about a call before they decide.
type Explained struct {
	messages.Words // What is empty if the tool does not describe the effect
	// Chinese are the same words in Chinese, if the tool provides them.
	Chinese messages.Words `json:"zh,omitzero"`
	// Exact is exactly what would take effect. It is empty if What already says everything, and in requests of older
	// versions, which showed the input.
	Exact string `json:"exact,omitempty"`
	// Command is the command line for a shell, and Folder is the folder where it would run.
	Command string `json:"command,omitempty"`
	Folder  string `json:"folder,omitempty"`
	// Bind is what the approval is bound to in addition to the tool and its input.
	Bind string `json:"bind,omitempty"`
	// Rule is an operator's rule that covers the call once a person has approved its Bind.
	Rule string `json:"rule,omitempty"`
	// FilesIn is the folder that contains all files the call would send. It is set if people may allow the folder for
	// a time.
	FilesIn string `json:"filesIn,omitempty"`
}

// Shown is what people are shown about one call of a run.
type Shown struct {
	CallID string `json:"callId"`
	Explained
}

// asked is the metadata member of messages with requests.
type asked struct {
	Requests []Request `json:"requests"`
	// Egress is the number of the message's last outbox row, so that a run that continues the message does not reuse
	// it.
	Egress int `json:"egress,omitempty"`
}

const askedMember = "approvals"

// WithRequests returns metadata with the given requests and the number of the message's last outbox row.
func WithRequests(meta uimessage.Metadata, requests []Request, egress int) uimessage.Metadata {
	return withMember(meta, askedMember, len(requests) > 0, asked{Requests: requests, Egress: egress})
}

// ApprovalDecided records that a person decided a request, or that it ended without a decision. Only the first such
// fact of a request has an effect.
type ApprovalDecided struct {
	MessageID  string `json:"messageId"`
	ApprovalID string `json:"approvalId"`
	Answer     Answer `json:"answer"`
	By         string `json:"by,omitempty"`
	ByName     string `json:"byName,omitempty"`
	Reason     string `json:"reason,omitempty"`
	RequestID  string `json:"requestId,omitempty"`
	Via        string `json:"via,omitempty"`  // see [Request]
	Late       bool   `json:"late,omitempty"` // see [Request]
	// Grant is the id of the timed grant that was given with the decision.
	Grant string `json:"grant,omitempty"`
	// Ingress is the message that contained the decision, which ends as answered. It is nil if there was no such
	// message.
	Ingress *Ingress `json:"ingress,omitempty"`
	Rows    []Row    `json:"rows,omitempty"`
}

// OutcomeBegun records that late decisions are carried out in a new assistant message with copies of the calls.
type OutcomeBegun struct {
	Message uimessage.Message `json:"message"`
	Of      []RequestKey      `json:"of"`
}

// RequestKey identifies a request within a chat.
type RequestKey struct {
	MessageID  string `json:"messageId"`
	ApprovalID string `json:"approvalId"`
}

func (ApprovalDecided) kind() string { return "decide" }
func (OutcomeBegun) kind() string    { return "outcome" }

// Decide returns the turn after a decision. A late decision does not change the parts, which the model reads, but only
// what people see. A decision on a request that is not open has no effect.
func (t Turn) Decide(f ApprovalDecided, at int64) Turn {
	i := slices.IndexFunc(t.Requests, func(r Request) bool { return r.ID == f.ApprovalID && r.Answer == AnswerOpen })
	if i < 0 {
		return t
	}
	r := t.Requests[i]
	r.Answer, r.By, r.ByName, r.Reason, r.At, r.RequestID, r.Via, r.Late = f.Answer, f.By, f.ByName, f.Reason, at, f.RequestID, f.Via, f.Late
	t = t.withRequest(i, r)
	if !f.Late {
		t.Parts = ReplaceCall(t.Parts, r.CallID, r.answered)
	}
	return t
}

func (t Turn) withRequest(i int, r Request) Turn {
	requests := slices.Clone(t.Requests)
	requests[i] = r
	meta := WithRequests(t.Meta, requests, t.Egress)
	t.Meta, t.Requests = meta, requests
	t.Metadata = meta.Append(nil)
	return t
}

// answered returns a call after its request ended. After a person's decision the call waits to be executed or refused;
// otherwise it is refused at once.
func (r Request) answered(p uimessage.Tool) uimessage.Tool {
	if p.State != uimessage.ToolApprovalRequested || !r.asks(p) {
		return p
	}
	a := uimessage.Approval{ID: r.ID}
	if p.Approval != nil {
		a = *p.Approval
	}
	a.Approved = uimessage.Some(r.Answer == AnswerApproved)
	if r.Reason != "" {
		a.Reason = uimessage.Some(r.Reason)
	}
	p.Approval, p.State = &a, uimessage.ToolOutputDenied
	if r.Answer.decides() {
		p.State = uimessage.ToolApprovalResponded
	}
	return p
}

// unanswered returns a call as waiting for a decision, because its decision is carried out in another message.
func (r Request) unanswered(p uimessage.Tool) uimessage.Tool {
	if p.State == uimessage.ToolApprovalResponded && p.Approval != nil && r.asks(p) {
		a := *p.Approval
		a.Approved, a.Reason = uimessage.Optional[bool]{}, uimessage.Optional[string]{}
		p.Approval, p.State = &a, uimessage.ToolApprovalRequested
	}
	return p
}

// ReplaceCall returns the parts with one call changed.
func ReplaceCall(parts []uimessage.Part, callID string, change func(uimessage.Tool) uimessage.Tool) []uimessage.Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == callID {
			parts[i] = change(t)
		}
	}
	return parts
}

// Call returns the tool call with the given id.
func (t Turn) Call(callID string) (uimessage.Tool, bool) {
	for _, p := range slices.Backward(t.Parts) {
		if call, ok := p.(uimessage.Tool); ok && call.ToolCallID == callID {
			return call, true
		}
	}
	return uimessage.Tool{}, false
}

// CallOf returns the call of a request. A model may use an id twice in a message, so the id of the request counts.
func (t Turn) CallOf(r Request) (uimessage.Tool, bool) {
	for _, p := range slices.Backward(t.Parts) {
		if call, ok := p.(uimessage.Tool); ok && call.Approval != nil && r.asks(call) {
			return call, true
		}
	}
	return t.Call(r.CallID)
}

// asks reports whether a call is the one of the request.
func (r Request) asks(call uimessage.Tool) bool {
	return call.ToolCallID == r.CallID && (call.Approval == nil || call.Approval.ID == r.ID)
}

// ForPeople returns the message as people see it: late decisions are shown at the call that asked, where the model
// does not see them.
func (t Turn) ForPeople() uimessage.Message {
	m := t.Message
	for _, r := range t.Requests {
		if r.Late && r.Answer != AnswerOpen {
			m.Parts = ReplaceCall(m.Parts, r.CallID, r.answered)
		}
	}
	return m
}

// Answered reports whether a call of the turn was decided and waits to be executed or refused.
func (t Turn) Answered() bool {
	return t.Role == uimessage.RoleAssistant && slices.ContainsFunc(t.Parts, func(p uimessage.Part) bool {
		call, ok := p.(uimessage.Tool)
		return ok && call.State == uimessage.ToolApprovalResponded
	})
}

// Asked is a request with the message that contains it.
type Asked struct {
	Turn    Turn
	Request Request
	// Origin is the chat of a [ReferredRequest]; empty for a request of this chat.
	Origin messages.ChatKey
}

// Requests returns all requests in the history for which the condition is true, oldest first.
func (s *State) Requests(want func(Request) bool) []Asked {
	var out []Asked
	for _, t := range s.asking() {
		for _, r := range t.Requests {
			if want(r) {
				out = append(out, Asked{Turn: *t, Request: r})
			}
		}
	}
	return out
}

// asking returns the turns with requests. In most chats this costs nothing, because there are none.
func (s *State) asking() []*Turn {
	var turns []*Turn
	for i := range s.History {
		if !s.asked {
			break
		}
		if len(s.History[i].Requests) > 0 {
			turns = append(turns, &s.History[i])
		}
	}
	return turns
}

// OpenRequests returns the requests that have not ended, without those whose decision waits for the end of the run.
func (s *State) OpenRequests() []Asked {
	return s.Requests(func(r Request) bool {
		return r.Answer == AnswerOpen && (s.Run == nil || !s.Run.answered(r.ID))
	})
}

// Due returns the decided requests that must be carried out in a new message, because their own message is no longer
// the last one.
func (s *State) Due() []Asked {
	return slices.DeleteFunc(s.Requests(func(r Request) bool { return r.Answer.decides() && r.Outcome == "" }), func(a Asked) bool {
		call, ok := a.Turn.CallOf(a.Request)
		return !ok || call.State.Settled() || s.IsLast(a.Turn.ID) && !a.Request.Late
	})
}

// Continues returns the last message of the history, and whether decided calls of it wait to be executed or refused.
func (s *State) Continues() (Turn, bool) {
	t := s.last()
	return t, t.Answered()
}

// NextRequest returns the number of the next request. A chat never reuses a number, because people refer to requests
// by number.
func (s *State) NextRequest() int { return s.requests + 1 }

func (s *State) noteRequests(t Turn) {
	s.asked = s.asked || len(t.Requests) > 0
	for _, r := range t.Requests {
		s.requests = max(s.requests, r.N)
	}
}

// Turn returns the turn with the given id from the history or the lane.
func (s *State) Turn(id string) (Turn, bool) {
	if t, _ := s.find(id); t != nil {
		return *t, true
	}
	return Turn{}, false
}

func (s *State) last() Turn {
	if n := len(s.History); n > 0 {
		return s.History[n-1]
	}
	return Turn{}
}

// IsLast reports whether a message is the last one of the history.
func (s *State) IsLast(id string) bool { return id != "" && s.last().ID == id }

func (r *Run) answered(approvalID string) bool {
	return slices.ContainsFunc(r.Answers, func(a RunAnswer) bool { return a.ApprovalID == approvalID })
}

// RunAnswer is a decision on a request of the message in progress. It takes effect when the run ends.
type RunAnswer struct {
	ApprovalDecided
	At int64
}

// A decision on the message in progress waits for the end of the run, which rewrites that message.
func (f ApprovalDecided) apply(s *State, r Record) {
	if f.Ingress != nil {
		s.ingressSettled(r, *f.Ingress, FateAnswered, "approval")
		s.reads(r, nil) // people are shown the host's answer
	}
	s.queue(r, f.Rows)
	if s.Run != nil && s.Run.MessageID == f.MessageID {
		if !s.Run.answered(f.ApprovalID) {
			s.Run.Answers = append(s.Run.Answers, RunAnswer{f, r.TS})
		}
		return
	}
	old, stored := s.edit(f.MessageID)
	if old == nil {
		return
	}
	s.supersede(old, stored, old.Decide(f, r.TS))
}

// The message for late decisions is appended to the history. If the run continues in it, the run gets its parts.
func (f OutcomeBegun) apply(s *State, _ Record) {
	for _, key := range f.Of {
		old, stored := s.edit(key.MessageID)
		if old == nil {
			continue
		}
		i := slices.IndexFunc(old.Requests, func(r Request) bool { return r.ID == key.ApprovalID })
		if i < 0 || old.Requests[i].Outcome != "" {
			continue
		}
		r := old.Requests[i]
		r.Late, r.Outcome = true, f.Message.ID
		t := old.withRequest(i, r)
		t.Parts = ReplaceCall(t.Parts, r.CallID, r.unanswered)
		s.supersede(old, stored, t)
	}
	if !s.Has(f.Message.ID) {
		s.push(NewTurn(f.Message))
	}
	if s.Run != nil && s.Run.MessageID == f.Message.ID {
		s.Run.Parts, s.Run.Base = f.Message.Parts, len(f.Message.Parts)
	}
}

// supersede replaces an assistant message. The history file needs it only if it differs.
func (s *State) supersede(old *Turn, stored bool, t Turn) {
	s.noteRequests(t)
	s.switching = s.switching || t.Switch.Kind != ""
	s.overwrite(old, stored && string(uimessage.AppendJSON(nil, old.Message)) != string(uimessage.AppendJSON(nil, t.Message)), t)
}

// overwrite replaces a turn, and in the next checkpoint its line in the history file if it is stored there.
func (s *State) overwrite(old *Turn, stored bool, t Turn) {
	*old = t
	if stored {
		s.dirty = append(s.dirty, t.Message)
	}
}
