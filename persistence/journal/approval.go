package journal

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Answer is how a request for approval ended.
type Answer string

// The answers. A request without one is open.
const (
	AnswerOpen      Answer = ""
	AnswerApproved  Answer = "approved"
	AnswerDenied    Answer = "denied"
	AnswerExpired   Answer = "expired"   // nobody decided in time
	AnswerWithdrawn Answer = "withdrawn" // the host took it back: a stop, a rewind
)

// decides reports whether a person gave the answer, so that the model hears of it.
func (a Answer) decides() bool { return a == AnswerApproved || a == AnswerDenied }

// Request is what the metadata of an assistant message keeps of one of its calls
// that asked a person. The call itself is a part of the message.
type Request struct {
	ID      string `json:"id"` // of the approval
	CallID  string `json:"callId"`
	N       int    `json:"n"`      // by which people name it
	Digest  string `json:"digest"` // of the tool's name, the exact input and Bind
	Asker   string `json:"asker,omitempty"`
	Asked   int64  `json:"asked"`   // unix milliseconds
	Expires int64  `json:"expires"` // unix milliseconds

	Explained

	Answer    Answer `json:"answer,omitempty"`
	By        string `json:"by,omitempty"`
	ByName    string `json:"byName,omitempty"` // what people call who decided
	Reason    string `json:"reason,omitempty"`
	At        int64  `json:"at,omitempty"`
	RequestID string `json:"requestId,omitempty"` // of the decision
	// Via is the message of a private chat that decided it; see [Referral].
	Via string `json:"via,omitempty"`
	// Late: the message was not the last one any more, so that the model goes on
	// reading the call as waiting; only people see the answer there.
	Late bool `json:"late,omitempty"`
	// Outcome is the message that holds the call's copy of a late answer.
	Outcome string `json:"outcome,omitempty"`
}

// Explained is what people are shown of a call before they agree.
type Explained struct {
	messages.Words // What is empty where the tool does not say what would happen
	// Chinese are the same words in Chinese, where the tool has them.
	Chinese messages.Words `json:"zh,omitzero"`
	// Exact is what would take effect. It is empty where What says it all, and in requests of
	// older versions, which showed the input.
	Exact string `json:"exact,omitempty"`
	// Command is what a shell would get, Folder where.
	Command string `json:"command,omitempty"`
	Folder  string `json:"folder,omitempty"`
	// Bind is what the answer is bound to beside the tool and its input.
	Bind string `json:"bind,omitempty"`
	// Rule is one of the operator's that covers the call once a person agreed to its Bind.
	Rule string `json:"rule,omitempty"`
	// FilesIn is the folder that all files which the call would send are in, where people may
	// agree to the folder for a time.
	FilesIn string `json:"filesIn,omitempty"`
}

// Shown is what people are shown of one call of a run.
type Shown struct {
	CallID string `json:"callId"`
	Explained
}

// asked is the member of a message's metadata that only messages with requests
// have.
type asked struct {
	Requests []Request `json:"requests"`
	// Egress is the number of the message's last egress row, so that a run that
	// continues it does not give it again.
	Egress int `json:"egress,omitempty"`
}

const askedMember = "approvals"

func decodeAsked(meta uimessage.Metadata) asked {
	var a asked
	for _, m := range meta.Extra {
		if m.Name == askedMember && json.Unmarshal(m.Value, &a) != nil {
			return asked{} // not ours
		}
	}
	return a
}

// WithRequests is metadata that keeps these requests, and the number of the
// message's last egress row.
func WithRequests(meta uimessage.Metadata, requests []Request, egress int) uimessage.Metadata {
	meta.Extra = slices.DeleteFunc(slices.Clone(meta.Extra), func(m uimessage.Member) bool { return m.Name == askedMember })
	if len(requests) > 0 {
		meta.Extra = append(meta.Extra, uimessage.Member{Name: askedMember, Value: appendJSON(nil, asked{Requests: requests, Egress: egress})})
	}
	return meta
}

// ApprovalDecided says: a request was answered by a person, or ended without an
// answer. The first answer counts; later ones change nothing.
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
	// Grant is the id of the timed grant that was given with it.
	Grant string `json:"grant,omitempty"`
	// Ingress is the message that said so, settled as answered; nil: none did.
	Ingress *Ingress `json:"ingress,omitempty"`
	Rows    []Row    `json:"rows,omitempty"`
}

// OutcomeBegun says: late answers take effect in a new assistant message that holds
// copies of their calls.
type OutcomeBegun struct {
	Message uimessage.Message `json:"message"`
	Of      []RequestKey      `json:"of"`
}

// RequestKey names a request within a chat.
type RequestKey struct {
	MessageID  string `json:"messageId"`
	ApprovalID string `json:"approvalId"`
}

func (ApprovalDecided) kind() string { return "decide" }
func (OutcomeBegun) kind() string    { return "outcome" }

// Decide is the turn after an answer. A late one changes only what people see of
// it: the parts, which the model reads, stay as they are. An answer to a request
// that is not open changes nothing.
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

// answered is a call as its answer leaves it: a decided one waits to be run or
// refused, any other is refused.
func (r Request) answered(p uimessage.Tool) uimessage.Tool {
	if p.State != uimessage.ToolApprovalRequested {
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

// unanswered is a call whose answer takes effect elsewhere: for the model it
// waits.
func unanswered(p uimessage.Tool) uimessage.Tool {
	if p.State == uimessage.ToolApprovalResponded && p.Approval != nil {
		a := *p.Approval
		a.Approved, a.Reason = uimessage.Optional[bool]{}, uimessage.Optional[string]{}
		p.Approval, p.State = &a, uimessage.ToolApprovalRequested
	}
	return p
}

// ReplaceCall is parts with one call changed.
func ReplaceCall(parts []uimessage.Part, callID string, change func(uimessage.Tool) uimessage.Tool) []uimessage.Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == callID {
			parts[i] = change(t)
		}
	}
	return parts
}

// Call finds a tool call of the turn by its id.
func (t Turn) Call(callID string) (uimessage.Tool, bool) {
	for _, p := range slices.Backward(t.Parts) {
		if call, ok := p.(uimessage.Tool); ok && call.ToolCallID == callID {
			return call, true
		}
	}
	return uimessage.Tool{}, false
}

// ForPeople is the message as people see it: late answers show at the call that
// asked, where the model does not see them.
func (t Turn) ForPeople() uimessage.Message {
	m := t.Message
	for _, r := range t.Requests {
		if r.Late && r.Answer != AnswerOpen {
			m.Parts = ReplaceCall(m.Parts, r.CallID, r.answered)
		}
	}
	return m
}

// Answered reports whether a call of the turn was decided and waits to be run or
// refused.
func (t Turn) Answered() bool {
	return t.Role == uimessage.RoleAssistant && slices.ContainsFunc(t.Parts, func(p uimessage.Part) bool {
		call, ok := p.(uimessage.Tool)
		return ok && call.State == uimessage.ToolApprovalResponded
	})
}

// Asked is a request with the message that holds it.
type Asked struct {
	Turn    Turn
	Request Request
	// Origin is the chat where a [ReferredRequest] arose; empty: this one.
	Origin messages.ChatKey
}

// Requests are all requests of the history that the condition holds for, oldest
// first.
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

// asking are the turns that hold requests. Most chats have none, and pay nothing.
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

// OpenRequests are the requests that nobody has answered, but for those with an
// answer that waits for the end of the run.
func (s *State) OpenRequests() []Asked {
	return s.Requests(func(r Request) bool {
		return r.Answer == AnswerOpen && (s.Run == nil || !s.Run.answered(r.ID))
	})
}

// Due are the decided requests whose outcome still needs a message of its own:
// their message is not the last one.
func (s *State) Due() []Asked {
	return slices.DeleteFunc(s.Requests(func(r Request) bool { return r.Answer.decides() && r.Outcome == "" }), func(a Asked) bool {
		call, ok := a.Turn.Call(a.Request.CallID)
		return !ok || call.State.Settled() || s.IsLast(a.Turn.ID) && !a.Request.Late
	})
}

// Continues is the last message of the history if calls of it were decided and
// wait to be run or refused.
func (s *State) Continues() (Turn, bool) {
	t := s.last()
	return t, t.Answered()
}

// NextRequest is the number of the next request. No number is given twice in the life of
// a chat: words of people name requests by them.
func (s *State) NextRequest() int { return s.requests + 1 }

// noteRequests takes note of a turn's requests.
func (s *State) noteRequests(t Turn) {
	s.asked = s.asked || len(t.Requests) > 0
	for _, r := range t.Requests {
		s.requests = max(s.requests, r.N)
	}
}

// Turn finds a turn of the history by its id.
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

// RunAnswer is an answer to a request of the run's own message; it takes effect
// when the run ends.
type RunAnswer struct {
	ApprovalDecided
	At int64
}

// decided takes an answer. One to the message that a run works on waits for the
// run's end, which writes the message anew.
func (s *State) decided(r Record, f ApprovalDecided) {
	if f.Ingress != nil {
		s.ingressSettled(r, *f.Ingress, FateAnswered, "approval")
		s.reads(r, nil) // people are told of it
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

// outcomeBegun puts the message of late answers behind the history, and into the
// run if that goes on in it.
func (s *State) outcomeBegun(f OutcomeBegun) {
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
		t.Parts = ReplaceCall(t.Parts, r.CallID, unanswered)
		s.supersede(old, stored, t)
	}
	if !s.Has(f.Message.ID) {
		s.push(NewTurn(f.Message))
	}
	if s.Run != nil && s.Run.MessageID == f.Message.ID {
		s.Run.Parts, s.Run.Base = f.Message.Parts, len(f.Message.Parts)
	}
}

func (s *State) supersede(old *Turn, stored bool, t Turn) {
	if stored && string(uimessage.AppendJSON(nil, old.Message)) != string(uimessage.AppendJSON(nil, t.Message)) {
		s.dirty = append(s.dirty, t.Message)
	}
	s.noteRequests(t)
	s.switching = s.switching || t.Switch.Kind != ""
	*old = t
}
