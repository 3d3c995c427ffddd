package host

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/grantfile"
)

// GrantLine is one grant that counts. Members are only added.
type GrantLine struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	N       int              `json:"n"` // people call it g and this number
	ID      string           `json:"id"`
	Rule    string           `json:"rule"`
	Person  string           `json:"person,omitempty"`
	Folder  string           `json:"folder,omitempty"`
	FilesIn string           `json:"filesIn,omitempty"` // files of this folder may be sent; there is no rule then
	From    time.Time        `json:"from"`
	Until   time.Time        `json:"until,omitzero"` // zero: it has no end
}

// GrantOrder takes grants of a chat back.
type GrantOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Numbers []int            `json:"numbers,omitempty"` // none: all
}

func (o GrantOrder) chatKey() messages.ChatKey { return o.ChatKey }

// GrantResult answers a [GrantOrder].
type GrantResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Revoked []int            `json:"revoked"`
	// Reason says why nothing was taken back: not_found.
	Reason string `json:"reason,omitempty"`
}

// grantsOf are the grants of chats in a state folder.
func grantsOf(state string) *grantfile.Store {
	return grantfile.New(filepath.Join(state, "approvals", "grants"), filestore.EncodeKey)
}

// counts reports that a grant has not ended and that nobody took it back.
func counts(g persistence.Grant, now time.Time) bool {
	return g.Revoked == 0 && (g.Until == 0 || now.Before(time.UnixMilli(g.Until)))
}

// ReadGrants lists the grants that count: of one chat, or of all with an empty key. A
// chat may know of one that its clock has ended, which is listed all the same.
func ReadGrants(ctx context.Context, state string, key messages.ChatKey) ([]GrantLine, error) {
	store, keys := grantsOf(state), []messages.ChatKey{key}
	if key == "" {
		var err error
		if keys, err = store.Chats(ctx); err != nil {
			return nil, err
		}
	}
	return each(keys, func(key messages.ChatKey) ([]GrantLine, error) {
		list, err := store.Grants(ctx, key)
		if err != nil {
			return nil, err
		}
		persistence.NumberGrants(list)
		var out []GrantLine
		for _, g := range list {
			if !counts(g, time.Now()) {
				continue
			}
			line := GrantLine{
				ChatKey: key, N: g.N, ID: g.ID, Rule: g.Rule, Person: g.Person, Folder: g.Folder, FilesIn: g.FilesIn, From: time.UnixMilli(g.From).UTC(),
			}
			if g.Until != 0 {
				line.Until = time.UnixMilli(g.Until).UTC()
			}
			out = append(out, line)
		}
		return out, nil
	})
}

// RevokeGrants takes grants back while no host uses the folder.
func RevokeGrants(ctx context.Context, state string, o GrantOrder) (GrantResult, error) {
	result := GrantResult{ChatKey: o.ChatKey, Revoked: []int{}}
	store, now := grantsOf(state), time.Now()
	list, err := store.Grants(ctx, o.ChatKey)
	if err != nil {
		return result, err
	}
	persistence.NumberGrants(list)
	var taken []persistence.Grant
	for i, g := range list {
		if counts(g, now) && (len(o.Numbers) == 0 || slices.Contains(o.Numbers, g.N)) {
			list[i].Revoked = now.UnixMilli()
			taken, result.Revoked = append(taken, g), append(result.Revoked, g.N)
		}
	}
	if len(taken) == 0 || slices.ContainsFunc(o.Numbers, func(n int) bool { return !slices.Contains(result.Revoked, n) }) {
		return GrantResult{ChatKey: o.ChatKey, Revoked: []int{}, Reason: "not_found"}, nil
	}
	if err := store.SaveGrants(ctx, o.ChatKey, list); err != nil {
		return result, err
	}
	var failed error
	log := newApprovalLog(filepath.Join(state, "approvals"), func(err error) { failed = err })
	for _, g := range taken {
		log.write(machine.AuditEntry{
			TS: now, Event: "approval", ChatKey: o.ChatKey, RequestID: rand.Text(), Result: "revoked", By: nameControl + "-" + approverOwner, Name: g.ID, Rule: g.Covers(),
		})
	}
	return result, errors.Join(failed, log.close())
}

// grants lists what counts in the chats here.
func (h *Host) grants(ctx context.Context, key messages.ChatKey) ([]GrantLine, error) {
	return ReadGrants(ctx, h.opts.State, key)
}

// revoke has a chat take grants back, as the user of the process.
func (h *Host) revoke(ctx context.Context, o GrantOrder) (GrantResult, error) {
	result := GrantResult{ChatKey: o.ChatKey, Revoked: []int{}}
	lines, err := h.grants(ctx, o.ChatKey)
	if err != nil {
		return result, err
	}
	if len(lines) == 0 {
		result.Reason = "not_found"
		return result, nil // a chat that allows nothing is not woken
	}
	reply, err := ask[messages.GrantsRevoked](ctx, h, messages.RevokeGrants{
		ChatKey: o.ChatKey, RequestID: rand.Text(), By: messages.Asker{Platform: nameControl, ID: approverOwner, Name: approverOwner}, Numbers: o.Numbers,
	})
	if err == nil && reply.Err != "" {
		err = errors.New(reply.Err)
	}
	if err != nil {
		return result, err
	}
	result.Revoked, result.Reason = append(result.Revoked, reply.Numbers...), reply.Reason
	return result, nil
}
