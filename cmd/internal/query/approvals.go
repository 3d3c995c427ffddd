package query

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/grantfile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// ApprovalLine is one request that waits for a decision. Members are only ever added.
type ApprovalLine struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Name    string           `json:"name,omitempty"` // as in [ChatLine]
	N       int              `json:"n"`
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`

	messages.Words
	Chinese messages.Words `json:"zh,omitzero"` // the same words in Chinese

	Exact   string    `json:"exact"` // what would run, with invisible characters made visible
	Digest  string    `json:"digest"`
	Asker   string    `json:"asker,omitempty"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	// AskerName is the name of the asker when they asked.
	AskerName string `json:"askerName,omitempty"`
	// Deciders are who may decide by the settings as they are now. A stopped host does not know them.
	Deciders []ApprovalDecider `json:"deciders,omitempty"`
	// Unseen is set while the request has not been shown to people of the chat.
	Unseen *ApprovalUnseen `json:"unseen,omitempty"`
}

// ApprovalUnseen says why a request has not been shown yet. The request stays open.
type ApprovalUnseen struct {
	// Parked says that the message that shows it is parked until it is retried.
	Parked bool `json:"parked,omitempty"`
	// Reason is why sending fails, as in the outbox. It is empty while the message is being sent.
	Reason string `json:"reason,omitempty"`
}

// ApprovalDecider is somebody who may decide a request.
type ApprovalDecider struct {
	Role approval.DeciderRole `json:"role"`
	ID   string               `json:"id,omitempty"` // the platform's
	Name string               `json:"name,omitempty"`
}

// DeciderConsole is the role of whoever is logged in to the console as the owner.
const DeciderConsole approval.DeciderRole = "console"

// ApprovalOrder decides about requests of a chat.
type ApprovalOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Numbers []int            `json:"numbers,omitempty"` // all open ones if empty
	Approve bool             `json:"approve"`
	Reason  string           `json:"reason,omitempty"`
	// Digest is that of the request which the person saw, if the order is about one. If the request with that number
	// is another one by now, nothing is decided.
	Digest string `json:"digest,omitempty"`
}

// ApprovalResult is the result of an [ApprovalOrder], with one element for each request.
type ApprovalResult struct {
	ChatKey messages.ChatKey  `json:"chatKey"`
	Decided []ApprovalDecided `json:"decided"`
	// Reason says why nothing was done: not_found.
	Reason string `json:"reason,omitempty"`
}

// ApprovalDecided is the outcome of one request.
type ApprovalDecided struct {
	N  int                    `json:"n"`
	ID string                 `json:"id"`
	Is messages.DecisionState `json:"is"`
}

// Approvals lists the requests that wait for a decision. It opens only chats that are marked as having unfinished
// work, because others have no requests.
func (d *Desk) Approvals(ctx context.Context, q Asked) ([]ApprovalLine, error) {
	keys, err := d.waking(ctx, q)
	if err != nil {
		return nil, err
	}
	lines, err := each(ctx, d, keys, func(key messages.ChatKey) ([]ApprovalLine, error) {
		view, err := Ask[messages.ViewReply](ctx, d.chat, messages.ViewQuery{ChatKey: key})
		if err != nil {
			return nil, err
		}
		lines := d.approvalLines(key, view.Messages)
		if len(lines) == 0 {
			return nil, nil
		}
		outbox, err := Ask[messages.OutboxReply](ctx, d.chat, messages.OutboxQuery{ChatKey: key})
		return withUnseen(lines, outbox.Items), err
	})
	d.name(len(lines), func(i int) (messages.ChatKey, *string) { return lines[i].ChatKey, &lines[i].Name })
	return lines, err
}

// waking returns the chats that may have open requests.
func (d *Desk) waking(ctx context.Context, q Asked) ([]messages.ChatKey, error) {
	if q.ChatKey != "" || d.store == nil {
		return d.owing(ctx, q)
	}
	keys, err := d.store.Waking(ctx)
	slices.Sort(keys)
	return keys, err
}

func (d *Desk) approvalLines(key messages.ChatKey, list []uimessage.Message) []ApprovalLine {
	var out []ApprovalLine
	names, group := map[string]string{}, false // of those who wrote
	for _, m := range list {
		t := journal.NewTurn(m)
		if m.Role == uimessage.RoleUser {
			names[t.Meta.UserID], group = t.Meta.Username, messages.IsGroup(t.Meta.ChatType, t.Meta.ChatID)
		}
		for _, r := range t.Requests {
			if call, ok := t.Call(r.CallID); ok && r.Answer == journal.AnswerOpen {
				out = append(out, ApprovalLine{
					ChatKey: key, N: r.N, ID: r.ID, Tool: call.Name, Words: r.Words, Chinese: r.Chinese, Exact: r.Exact, Digest: r.Digest, Asker: r.Asker,
					Asked: time.UnixMilli(r.Asked).UTC(), Expires: time.UnixMilli(r.Expires).UTC(), AskerName: names[r.Asker],
					Deciders: d.deciders(approval.Claim{ChatKey: key, Group: group, Asker: r.Asker}),
				})
			}
		}
	}
	return out
}

// withUnseen marks the requests whose message has not been delivered yet.
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

// Decide decides requests as the user of the process. It sends their digests, so that only what was listed can be
// decided.
func (d *Desk) Decide(ctx context.Context, o ApprovalOrder) (ApprovalResult, error) {
	result := ApprovalResult{ChatKey: o.ChatKey, Decided: []ApprovalDecided{}}
	lines, err := d.Approvals(ctx, Asked{ChatKey: o.ChatKey})
	if err != nil {
		return result, err
	}
	order := messages.DecideApproval{ChatKey: o.ChatKey, RequestID: rand.Text(), By: d.by}
	found := map[int]bool{}
	for _, l := range lines {
		if len(o.Numbers) == 0 || slices.Contains(o.Numbers, l.N) {
			found[l.N] = true
			order.Say = append(order.Say, messages.Decision{ApprovalID: l.ID, Approved: o.Approve, Reason: o.Reason, Digest: l.Digest})
			result.Decided = append(result.Decided, ApprovalDecided{N: l.N, ID: l.ID})
		}
	}
	another := o.Digest != "" && (len(order.Say) != 1 || order.Say[0].Digest != o.Digest)
	if slices.ContainsFunc(o.Numbers, func(n int) bool { return !found[n] }) || len(order.Say) == 0 || another {
		return ApprovalResult{ChatKey: o.ChatKey, Decided: []ApprovalDecided{}, Reason: refusedNotFound}, nil
	}
	reply, err := Ask[messages.ApprovalDecided](ctx, d.chat, order)
	if err == nil && len(reply.Outcomes) != len(result.Decided) {
		err = errors.New("the chat did not answer about every request")
	}
	if err != nil {
		return result, err
	}
	for i, out := range reply.Outcomes {
		result.Decided[i].Is = out.Is
	}
	return result, nil
}

// Platform is the platform name of decisions that the user of the process makes with a command.
const Platform = "control"

// operator is the person who decides with a command on this machine.
func operator() messages.Asker {
	const owner = "owner"
	return messages.Asker{Platform: Platform, ID: owner, Name: owner}
}

// GrantLine is one active grant. Members are only ever added.
type GrantLine struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	N       int              `json:"n"` // people refer to it as g followed by this number
	ID      string           `json:"id"`
	Rule    string           `json:"rule"`
	Person  string           `json:"person,omitempty"`
	For     string           `json:"for,omitempty"` // the id of the person it applies to, if not to who gave it
	Folder  string           `json:"folder,omitempty"`
	FilesIn string           `json:"filesIn,omitempty"` // files of this folder may be sent; Rule is empty then
	From    time.Time        `json:"from"`
	Until   time.Time        `json:"until,omitzero"` // zero if it does not expire
}

// GrantOrder revokes grants of a chat.
type GrantOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Numbers []int            `json:"numbers,omitempty"` // all if empty
}

// GrantResult is the result of a [GrantOrder].
type GrantResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Revoked []int            `json:"revoked"`
	// Reason says why nothing was revoked: not_found.
	Reason string `json:"reason,omitempty"`
}

// Grants opens the grants of the chats in a state folder.
func Grants(state string) *grantfile.Store {
	return grantfile.New(filepath.Join(state, "approvals", "grants"), chatpath.Encode)
}

// counts reports whether a grant is active: neither expired nor revoked.
func counts(g permission.Grant, now time.Time) bool {
	return g.Revoked == 0 && (g.Until == 0 || now.Before(time.UnixMilli(g.Until)))
}

// Grants lists the active grants. A grant that expired by the chat's own clock, which this does not know, is listed
// as well.
func (d *Desk) Grants(ctx context.Context, q Asked) ([]GrantLine, error) {
	if d.store == nil {
		return []GrantLine{}, nil
	}
	store, keys := Grants(d.state), []messages.ChatKey{q.ChatKey}
	if q.ChatKey == "" {
		var err error
		if keys, err = store.Chats(ctx); err != nil {
			return nil, err
		}
	}
	return each(ctx, d, keys, func(key messages.ChatKey) ([]GrantLine, error) {
		list, err := store.Grants(ctx, key)
		if err != nil {
			return nil, err
		}
		permission.Number(list)
		var out []GrantLine
		for _, g := range list {
			if !counts(g, time.Now()) {
				continue
			}
			line := GrantLine{
				ChatKey: key, N: g.N, ID: g.ID, Rule: g.Rule, Person: g.Person, For: g.For, Folder: g.Folder, FilesIn: g.FilesIn, From: time.UnixMilli(g.From).UTC(),
			}
			if g.Until != 0 {
				line.Until = time.UnixMilli(g.Until).UTC()
			}
			out = append(out, line)
		}
		return out, nil
	})
}

// Revoke has a chat revoke grants, as the user of the process. A chat without grants is not woken.
func (d *Desk) Revoke(ctx context.Context, o GrantOrder) (GrantResult, error) {
	result := GrantResult{ChatKey: o.ChatKey, Revoked: []int{}}
	lines, err := d.Grants(ctx, Asked{ChatKey: o.ChatKey})
	if err != nil {
		return result, err
	}
	if len(lines) == 0 {
		result.Reason = refusedNotFound
		return result, nil
	}
	reply, err := Ask[messages.GrantsRevoked](ctx, d.chat, messages.RevokeGrants{ChatKey: o.ChatKey, RequestID: rand.Text(), By: d.by, Numbers: o.Numbers})
	if err != nil {
		return result, err
	}
	result.Revoked, result.Reason = append(result.Revoked, reply.Numbers...), reply.Reason
	return result, nil
}
