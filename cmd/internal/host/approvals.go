package host

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ApprovalLine is one request that waits for a person. Members are only added.
type ApprovalLine struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	N       int              `json:"n"`
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`

	messages.Words
	Chinese messages.Words `json:"zh,omitzero"` // the same words in Chinese

	Exact   string    `json:"exact"` // what would take effect, with marks for what cannot be seen
	Digest  string    `json:"digest"`
	Asker   string    `json:"asker,omitempty"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	// Unseen is set while people of the chat do not see the request yet.
	Unseen *ApprovalUnseen `json:"unseen,omitempty"`
}

// ApprovalUnseen says why people do not see a request yet. It stays open.
type ApprovalUnseen struct {
	// Parked: the message that shows it was given up until somebody retries it.
	Parked bool `json:"parked,omitempty"`
	// Reason is why sending fails, as of the outbox; empty: it is on its way.
	Reason string `json:"reason,omitempty"`
}

// ApprovalOrder decides about requests of a chat.
type ApprovalOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Numbers []int            `json:"numbers,omitempty"` // none: all that are open
	Approve bool             `json:"approve"`
	Reason  string           `json:"reason,omitempty"`
}

func (o ApprovalOrder) chatKey() messages.ChatKey { return o.ChatKey }

// ApprovalResult answers an [ApprovalOrder], with one line for each request.
type ApprovalResult struct {
	ChatKey messages.ChatKey  `json:"chatKey"`
	Decided []ApprovalDecided `json:"decided"`
	// Reason says why nothing was done: not_found.
	Reason string `json:"reason,omitempty"`
}

// ApprovalDecided is what became of one request.
type ApprovalDecided struct {
	N  int                 `json:"n"`
	ID string              `json:"id"`
	Is messages.DecisionIs `json:"is"`
}

// ReadApprovals lists the requests that wait while no host uses the store: of one
// chat, or of all with an empty key. A chat with an open request is marked to be
// woken; the others are not touched.
func ReadApprovals(ctx context.Context, store *filestore.Store, key messages.ChatKey) ([]ApprovalLine, error) {
	keys, err := waiting(ctx, store, key)
	if err != nil {
		return nil, err
	}
	return each(keys, func(key messages.ChatKey) ([]ApprovalLine, error) {
		state, err := readState(ctx, store, key)
		if err != nil {
			return nil, err
		}
		return withUnseen(approvalLines(key, state.History), machine.Outbox(state)), nil
	})
}

// waiting are the chats that may hold open requests.
func waiting(ctx context.Context, store *filestore.Store, key messages.ChatKey) ([]messages.ChatKey, error) {
	if key != "" {
		return owing(ctx, store, key)
	}
	keys, err := store.Waking(ctx)
	slices.Sort(keys)
	return keys, err
}

func approvalLines(key messages.ChatKey, turns []journal.Turn) []ApprovalLine {
	var out []ApprovalLine
	for _, t := range turns {
		for _, r := range t.Requests {
			if call, ok := t.Call(r.CallID); ok && r.Answer == journal.AnswerOpen {
				out = append(out, ApprovalLine{
					ChatKey: key, N: r.N, ID: r.ID, Tool: call.Name, Words: r.Words, Chinese: r.Chinese, Exact: r.Exact, Digest: r.Digest, Asker: r.Asker,
					Asked: time.UnixMilli(r.Asked).UTC(), Expires: time.UnixMilli(r.Expires).UTC(),
				})
			}
		}
	}
	return out
}

// approvals asks the chats that run here.
func (h *Host) approvals(ctx context.Context, key messages.ChatKey) ([]ApprovalLine, error) {
	keys, err := waiting(ctx, h.store, key)
	if err != nil {
		return nil, err
	}
	return each(keys, func(key messages.ChatKey) ([]ApprovalLine, error) {
		view, err := ask[messages.ViewReply](ctx, h, messages.ViewQuery{ChatKey: key})
		if err == nil && view.Err != "" {
			err = errors.New(view.Err)
		}
		var turns []journal.Turn
		for _, m := range view.Messages {
			turns = append(turns, journal.NewTurn(m))
		}
		lines := approvalLines(key, turns)
		if err != nil || len(lines) == 0 {
			return lines, err
		}
		outbox, err := ask[messages.OutboxReply](ctx, h, messages.OutboxQuery{ChatKey: key})
		if err == nil && outbox.Err != "" {
			err = errors.New(outbox.Err)
		}
		return withUnseen(lines, outbox.Items), err
	})
}

// withUnseen says of each request whether the message that is to show it is owed still.
func withUnseen(lines []ApprovalLine, outbox []messages.OutboxItem) []ApprovalLine {
	for i := range lines {
		for _, item := range outbox {
			if slices.Contains(item.Unseen, lines[i].ID) {
				lines[i].Unseen = &ApprovalUnseen{Parked: item.State == messages.OutboxParked, Reason: item.LastError}
			}
		}
	}
	return lines
}

// decide decides about requests as the user of the process. They are named by their
// digests as well: what is decided is what was listed.
func (h *Host) decide(ctx context.Context, o ApprovalOrder) (ApprovalResult, error) {
	result := ApprovalResult{ChatKey: o.ChatKey, Decided: []ApprovalDecided{}}
	lines, err := h.approvals(ctx, o.ChatKey)
	if err != nil {
		return result, err
	}
	order := messages.DecideApproval{
		ChatKey: o.ChatKey, RequestID: rand.Text(), By: messages.Asker{Platform: nameControl, ID: approverOwner, Name: approverOwner},
	}
	found := map[int]bool{}
	for _, l := range lines {
		if len(o.Numbers) == 0 || slices.Contains(o.Numbers, l.N) {
			found[l.N] = true
			order.Say = append(order.Say, messages.Decision{ApprovalID: l.ID, Approved: o.Approve, Reason: o.Reason, Digest: l.Digest})
			result.Decided = append(result.Decided, ApprovalDecided{N: l.N, ID: l.ID})
		}
	}
	if slices.ContainsFunc(o.Numbers, func(n int) bool { return !found[n] }) || len(order.Say) == 0 {
		return ApprovalResult{ChatKey: o.ChatKey, Decided: []ApprovalDecided{}, Reason: "not_found"}, nil
	}
	reply, err := ask[messages.ApprovalDecided](ctx, h, order)
	if err == nil && (reply.Err != "" || len(reply.Outcomes) != len(result.Decided)) {
		err = errors.New(reply.Err)
	}
	if err != nil {
		return result, err
	}
	for i, out := range reply.Outcomes {
		result.Decided[i].Is = out.Is
	}
	return result, nil
}

// approvals serves GET /control/approvals.
func (c *control) approvals(w http.ResponseWriter, r *http.Request) {
	serveList(c, w, r, c.host.approvals)
}

// decide serves POST /control/approvals.
func (c *control) decide(w http.ResponseWriter, r *http.Request) {
	serveOrder(c, w, r, c.host.decide)
}
