package referral

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Decision is what a person decided about requests of other chats, until those chats have answered. It does not change:
// an answer makes another decision.
type Decision struct {
	ruling.Verdict
	left     map[messages.ChatKey]bool // chats that have not answered
	outcomes map[string]messages.DecisionOutcome
	unknown  bool
	failed   bool
}

// among returns the requests in a list that belong to other chats.
func among(list []journal.Asked) []journal.Asked {
	return slices.DeleteFunc(slices.Clone(list), func(a journal.Asked) bool { return a.Origin == "" })
}

// Decide returns a decision and the orders for the chats that asked, which are made from the given one. It returns nil
// if no request belongs to another chat. It returns false if the person allows something for a time, which applies to
// one chat only, and decides requests of several.
func Decide(order messages.DecideReferred, v ruling.Verdict) (*Decision, []messages.DecideReferred, bool) {
	referred := among(v.Those)
	if len(referred) == 0 {
		return nil, nil, true
	}
	if v.Sense == ruling.Grant {
		order.Rules, order.Minutes, order.Folders = v.Said.Targets, v.Said.Minutes, v.Order.Folder
		if len(referred) != len(v.Those) || slices.ContainsFunc(referred, func(a journal.Asked) bool { return a.Origin != referred[0].Origin }) {
			return nil, nil, false
		}
	}
	say := map[messages.ChatKey][]messages.Decision{}
	for _, a := range referred {
		say[a.Origin] = append(say[a.Origin], messages.Decision{ApprovalID: a.Request.ID, Digest: a.Request.Digest, Approved: v.Approves, Reason: v.Reason})
	}
	d := &Decision{Verdict: v, left: map[messages.ChatKey]bool{}}
	var orders []messages.DecideReferred
	for _, origin := range slices.Sorted(maps.Keys(say)) {
		d.left[origin] = true
		order.ChatKey, order.Say = origin, say[origin]
		orders = append(orders, order)
	}
	return d, orders, true
}

// Answered returns the decision with the answer of a chat that asked, or false if that chat owes no answer.
func (d *Decision) Answered(s *journal.State, msg messages.ReferredDecided) (*Decision, bool) {
	if d == nil || !d.left[msg.From] {
		return d, false
	}
	next := *d
	next.left, next.outcomes = maps.Clone(d.left), map[string]messages.DecisionOutcome{}
	delete(next.left, msg.From)
	maps.Copy(next.outcomes, d.outcomes)
	for _, out := range msg.Outcomes {
		if g, ok := s.ReferredRequest(out.ApprovalID); ok && g.Origin == msg.From {
			next.outcomes[out.ApprovalID] = out
		}
	}
	next.unknown, next.failed = d.unknown || msg.Unknown, d.failed || msg.Err != ""
	return &next, true
}

// Waits reports whether a chat that asked has not answered.
func (d *Decision) Waits() bool { return len(d.left) > 0 }

// Failed reports whether the person has to decide again, because not all chats answered that they knew what to do.
func (d *Decision) Failed() bool { return d.Waits() || d.failed }

// Outcome returns the outcome of one request. It returns false if that is not known.
func (d *Decision) Outcome(approvalID string) (messages.DecisionOutcome, bool) {
	out, ok := d.outcomes[approvalID]
	return out, ok && !d.unknown
}

// Ended returns the facts for requests that have ended according to the chats that asked.
func (d *Decision) Ended(s *journal.State, by messages.Asker) []journal.Fact {
	var facts []journal.Fact
	for _, id := range slices.Sorted(maps.Keys(d.outcomes)) {
		out := d.outcomes[id]
		g, ok := s.ReferredRequest(id)
		if !ok || g.Answer != journal.AnswerOpen {
			continue
		}
		f := journal.ReferredRequestEnded{Origin: g.Origin, ApprovalID: id, By: out.By}
		switch out.Is {
		case messages.DecisionDone:
			f.By, f.ByName, f.Answer = by.Platform+"-"+by.ID, by.Name, journal.AnswerDenied
			if d.Approves {
				f.Answer = journal.AnswerApproved
			}
		case messages.DecisionExpired:
			f.Answer = journal.AnswerExpired
		case messages.DecisionAlready, messages.DecisionForbidden, messages.DecisionUnknown, messages.DecisionUnseen:
			continue // the other chat reports how it ended, if it has
		}
		facts = append(facts, f)
	}
	return facts
}

// Words describe the outcome of the decision.
func (d *Decision) Words(s *journal.State) notices.Text {
	if d.unknown {
		return notices.AdminsUnknown()
	}
	var out notices.Text
	done := len(d.outcomes) > 0
	for i, a := range among(d.Those) {
		outcome := d.outcomes[a.Request.ID]
		words := d.outcomeWords(s, outcome, strconv.Itoa(a.Request.N))
		if done = done && outcome.Is == messages.DecisionDone; i > 0 {
			out = out.And("\n")
		}
		out[0], out[1] = out[0]+words[0], out[1]+words[1]
	}
	if d.Sense == ruling.Grant && done {
		words := d.granted(s)
		out = notices.Text{out[0] + "\n" + words[0], out[1] + "\n" + words[1]}
	}
	return out
}

func (d *Decision) outcomeWords(s *journal.State, out messages.DecisionOutcome, n string) notices.Text {
	g, _ := s.ReferredRequest(out.ApprovalID)
	who := approval.Quoted(g.AskerName, g.Asker)
	switch out.Is {
	case messages.DecisionDone:
		if d.Approves {
			return notices.Text{"Request #" + n + approval.ForWhom(g.Task, who) + " is approved.", "请求 #" + n + "（" + approval.FromZh(g.Task, who) + "）已批准。"}
		}
		return notices.Text{"Request #" + n + approval.ForWhom(g.Task, who) + " is denied.", "请求 #" + n + "（" + approval.FromZh(g.Task, who) + "）已拒绝。"}
	case messages.DecisionAlready:
		switch out.Answer {
		case string(journal.AnswerApproved):
			return notices.Text{"Request #" + n + " was approved before.", "请求 #" + n + " 之前已被批准。"}
		case string(journal.AnswerDenied):
			return notices.Text{"Request #" + n + " was denied before.", "请求 #" + n + " 之前已被拒绝。"}
		}
		return notices.Text{"Request #" + n + " was withdrawn. Nothing was done.", "请求 #" + n + " 已撤回，没有执行任何操作。"}
	case messages.DecisionExpired:
		return notices.Expired(n)
	case messages.DecisionForbidden:
		return notices.Text{"You may not decide about request #" + n + " any more. It stays as it is.", "你已无权决定请求 #" + n + "，请求保持不变。"}
	case messages.DecisionUnknown, messages.DecisionUnseen:
	}
	return notices.Text{"I could not decide request #" + n + " that way. It stays as it is.", "无法这样决定请求 #" + n + "，请求保持不变。"}
}

// granted says what a person allowed for a time in another chat.
func (d *Decision) granted(s *journal.State) notices.Text {
	g, _ := s.ReferredRequest(among(d.Those)[0].Request.ID)
	who := approval.Quoted(g.AskerName, g.Asker)
	if d.Order.Folder {
		return grants.FoldersAllowedThere(grants.FoldersOf(d.Those), who)
	}
	return grants.RulesAllowedThere(d.Said.Minutes, d.Said.Targets, who)
}

// Show returns the fact that a private chat shows a request of another chat, with its row unless it is shown in a list.
func Show(s *journal.State, msg messages.ShowRequest, zh bool) journal.ReferredRequestShown {
	r := msg.Request
	g := journal.ReferredRequest{
		Request: journal.Request{
			ID: r.ApprovalID, CallID: r.CallID, N: s.NextRequest(), Digest: r.Digest, Asker: r.Asker, Asked: r.Asked, Expires: r.Expires,
			Explained: journal.Explained{Words: r.Words, Chinese: r.Chinese, Exact: r.Exact, Command: r.Command, Folder: r.Folder, Bind: r.Bind, FilesIn: r.FilesIn},
		},
		Origin: r.From, Person: r.Person, Tool: r.Tool, Name: r.Title, Input: r.Input,
		AskerName: r.AskerName, ChatTitle: r.ChatTitle, Group: r.Group, Task: r.Task, TaskTitle: r.TaskTitle,
	}
	f := journal.ReferredRequestShown{Request: g}
	if !msg.Quiet {
		f.Rows = []journal.Row{{
			Key: journal.RowKey{MessageID: "g:" + r.ApprovalID, N: 1}, Text: approval.ReferredWords(g).In(zh),
			Asks: []journal.Ask{{N: g.N, ApprovalID: g.ID, Digest: g.Digest, Chinese: zh}}, Shows: []string{g.ID},
		}}
	}
	return f
}

// Press returns what becomes of a button press on a request of another chat, as far as the private chat knows. If it is
// done, the chat that asked has to decide.
func Press(g journal.ReferredRequest, digest string) messages.DecisionOutcome {
	out := messages.DecisionOutcome{ApprovalID: g.ID, Is: messages.DecisionDone}
	switch {
	case digest == "" || !strings.HasPrefix(g.Digest, digest):
		out.Is = messages.DecisionUnknown
	case g.Answer == journal.AnswerExpired:
		out.Is = messages.DecisionExpired
	case g.Answer != journal.AnswerOpen:
		out.Is, out.By, out.ByName, out.Answer = messages.DecisionAlready, g.By, g.ByName, string(g.Answer)
	}
	return out
}
