package journal

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Referral is a private chat whose person is asked about a request of this chat. It is kept until the private chat
// confirms that it knows how the request ended.
type Referral struct {
	ApprovalID string           `json:"approvalId"`
	To         messages.ChatKey `json:"to"`
	Person     string           `json:"person"` // the platform's id
	// Confirmed is set once the private chat has confirmed that the request is durable there.
	Confirmed bool `json:"taken,omitempty"`
}

// RequestReferred records who is asked about requests in their private chats.
type RequestReferred struct {
	Referrals []Referral `json:"referrals"`
}

// ReferralSettled records the confirmation of a private chat that it has a request, or that it knows how the request
// ended.
type ReferralSettled struct {
	ApprovalID string           `json:"approvalId"`
	To         messages.ChatKey `json:"to"`
	Ended      bool             `json:"ended,omitempty"`
}

// ReferredRequest is a request of another chat that a private chat shows to its person. Its number belongs to the
// private chat. Everything else comes from the chat that asks, which alone decides the request.
type ReferredRequest struct {
	Request

	Origin messages.ChatKey `json:"origin"`
	// Person is the one who may decide according to the other chat, which checks this again when the decision arrives.
	Person string          `json:"person"`
	Tool   string          `json:"tool"`
	Name   string          `json:"name,omitempty"` // title of the tool
	Input  json.RawMessage `json:"input,omitempty"`
	// AskerName and ChatTitle are the names of the person who asked and of the chat.
	AskerName string `json:"askerName,omitempty"`
	ChatTitle string `json:"chatTitle,omitempty"`
	Group     bool   `json:"group,omitempty"`
	Task      bool   `json:"task,omitempty"`
	TaskTitle string `json:"taskTitle,omitempty"`
}

// ReferredRequestShown records that a private chat shows a request of another chat.
type ReferredRequestShown struct {
	Request ReferredRequest `json:"guest"`
	Rows    []Row           `json:"rows,omitempty"`
}

// ReferredRequestEnded records that a request of another chat has ended. Ingress is the message of the private chat
// that decided it, which ends as answered. It is nil if no message did or if that message has already ended.
type ReferredRequestEnded struct {
	Origin     messages.ChatKey `json:"origin"`
	ApprovalID string           `json:"approvalId"`
	Answer     Answer           `json:"answer"`
	By         string           `json:"by,omitempty"`
	ByName     string           `json:"byName,omitempty"`
	Ingress    *Ingress         `json:"ingress,omitempty"`
}

// ButtonRow is a sent message with buttons for requests. It is kept until the message shows how all of them ended.
type ButtonRow struct {
	Key     RowKey `json:"key"`
	Message string `json:"message"` // the platform's id of the message with the buttons
	Text    string `json:"text"`    // of the whole row
	Asks    []Ask  `json:"asks"`
}

// ButtonsSettled records that a message with buttons shows how the requests ended, or can no longer be edited.
type ButtonsSettled struct {
	Key RowKey `json:"key"`
}

func (RequestReferred) kind() string      { return "refer" }
func (ReferralSettled) kind() string      { return "referred" }
func (ReferredRequestShown) kind() string { return "guest" }
func (ReferredRequestEnded) kind() string { return "guest_end" }
func (ButtonsSettled) kind() string       { return "buttons" }

// maxButtonRows is how many messages with buttons a chat remembers.
const maxButtonRows = 128

func (f RequestReferred) apply(s *State, r Record) {
	if r.N <= s.counted {
		return // the meta file contains it
	}
	for _, ref := range f.Referrals {
		if s.referral(ref.ApprovalID, ref.To) < 0 {
			s.Referrals = append(s.Referrals, ref)
		}
	}
}

func (f ReferralSettled) apply(s *State, _ Record) {
	i := s.referral(f.ApprovalID, f.To)
	switch {
	case i < 0:
	case f.Ended:
		s.Referrals = slices.Delete(slices.Clone(s.Referrals), i, i+1)
	default:
		s.Referrals[i].Confirmed = true
	}
}

func (s *State) referral(approvalID string, to messages.ChatKey) int {
	return slices.IndexFunc(s.Referrals, func(r Referral) bool { return r.ApprovalID == approvalID && r.To == to })
}

func (f ReferredRequestShown) apply(s *State, r Record) {
	s.requests = max(s.requests, f.Request.N)
	if r.N > s.counted {
		if _, known := s.ReferredRequest(f.Request.ID); !known {
			s.Referred = append(s.Referred, f.Request)
		}
	}
	s.queue(r, f.Rows)
}

func (f ReferredRequestEnded) apply(s *State, r Record) {
	if f.Ingress != nil {
		s.ingressSettled(r, *f.Ingress, FateAnswered, "approval")
	}
	for i, g := range s.Referred {
		if g.ID == f.ApprovalID && g.Origin == f.Origin && g.Answer == AnswerOpen {
			g.Answer, g.By, g.ByName, g.At = f.Answer, f.By, f.ByName, r.TS
			s.Referred[i] = g
		}
	}
}

func (f ButtonsSettled) apply(s *State, _ Record) {
	s.Buttons = slices.DeleteFunc(slices.Clone(s.Buttons), func(b ButtonRow) bool { return b.Key == f.Key })
}

// buttonsBelow remembers the sent message of a row with buttons for requests.
func (s *State) buttonsBelow(r Record, row OutboxRow, receipts []string) {
	b := ButtonRow{Key: row.Key, Text: row.Text}
	for _, a := range row.Asks {
		if a.Digest != "" { // the platform handles the others
			b.Asks = append(b.Asks, a)
		}
	}
	known := r.N <= s.counted || slices.ContainsFunc(s.Buttons, func(o ButtonRow) bool { return o.Key == row.Key })
	if known || len(b.Asks) == 0 || len(receipts) == 0 {
		return
	}
	b.Message = receipts[len(receipts)-1]
	s.Buttons = append(s.Buttons, b)
	if n := len(s.Buttons); n > maxButtonRows {
		s.Buttons = slices.Clone(s.Buttons[n-maxButtonRows:])
	}
}

// HasRequest reports whether the history contains a request of this chat with the given id.
func (s *State) HasRequest(approvalID string) bool {
	return len(s.Requests(func(r Request) bool { return r.ID == approvalID })) > 0
}

// ReferredRequest returns the request of another chat with the given id.
func (s *State) ReferredRequest(approvalID string) (ReferredRequest, bool) {
	for _, g := range s.Referred {
		if g.ID == approvalID {
			return g, true
		}
	}
	return ReferredRequest{}, false
}

// referredRequests returns the requests that are open, or that a row or a message with buttons still needs.
func (s *State) referredRequests() []ReferredRequest {
	needed := map[string]bool{}
	note := func(asks []Ask) {
		for _, a := range asks {
			needed[a.ApprovalID] = true
		}
	}
	for _, b := range s.Buttons {
		note(b.Asks)
	}
	for _, row := range s.Outbox {
		note(row.Asks)
		for _, id := range row.Shows {
			needed[id] = true
		}
	}
	s.Referred = slices.DeleteFunc(slices.Clone(s.Referred), func(g ReferredRequest) bool { return g.Answer != AnswerOpen && !needed[g.ID] })
	return slices.Clone(s.Referred)
}

// Drops reports whether m contains a request of another chat that next does not. The words of that request may have
// been deleted at their origin, so no copy older than next may keep them.
func (m Meta) Drops(next Meta) bool {
	return slices.ContainsFunc(m.Referred, func(g ReferredRequest) bool {
		return !slices.ContainsFunc(next.Referred, func(o ReferredRequest) bool { return o.ID == g.ID })
	})
}

// ledgerText returns what the ledger keeps of a row. The words of another chat's requests belong to that chat and are
// deleted with it, so only their numbers are kept here.
func (s *State) ledgerText(row Row) string {
	var numbers []string
	for _, id := range row.Shows {
		if g, ok := s.ReferredRequest(id); ok {
			numbers = append(numbers, "#"+strconv.Itoa(g.N))
		}
	}
	if len(numbers) > 0 {
		return strings.Join(numbers, " ")
	}
	return row.Text
}

// OpenReferred returns the requests of other chats that wait for the person of this chat. Their turns contain only the
// call.
func (s *State) OpenReferred() []Asked {
	var out []Asked
	for _, g := range s.Referred {
		if g.Answer == AnswerOpen {
			out = append(out, g.Asked())
		}
	}
	return out
}

// Asked returns the referred request in the form of a request of this chat.
func (g ReferredRequest) Asked() Asked {
	call := uimessage.Tool{
		Name: g.Tool, ToolCallID: g.CallID, State: uimessage.ToolApprovalRequested, Input: g.Input, Approval: &uimessage.Approval{ID: g.ID},
	}
	if g.Name != "" {
		call.Title = uimessage.Some(g.Name)
	}
	turn := Turn{Message: uimessage.Message{Role: uimessage.RoleAssistant, Parts: []uimessage.Part{call}}, Requests: []Request{g.Request}}
	return Asked{Turn: turn, Request: g.Request, Origin: g.Origin}
}

// HowEnded returns how a request ended, and the id and name of the person who decided it. A request that the chat no
// longer has counts as withdrawn.
func (s *State) HowEnded(approvalID string) (answer Answer, by, name string) {
	if g, ok := s.ReferredRequest(approvalID); ok {
		return g.Answer, g.By, g.ByName
	}
	if s.Run != nil {
		for _, a := range s.Run.Answers {
			if a.ApprovalID == approvalID {
				return a.Answer, a.By, a.ByName
			}
		}
	}
	for _, a := range s.Requests(func(r Request) bool { return r.ID == approvalID }) {
		return a.Request.Answer, a.Request.By, a.Request.ByName
	}
	return AnswerWithdrawn, "", ""
}
