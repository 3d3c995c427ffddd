package query

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"time"

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

// To implements [Order].
func (o GrantOrder) To() messages.ChatKey { return o.ChatKey }

// GrantResult answers a [GrantOrder].
type GrantResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Revoked []int            `json:"revoked"`
	// Reason says why nothing was taken back: not_found.
	Reason string `json:"reason,omitempty"`
}

// Grants are the grants of chats in a state folder.
func Grants(state string) *grantfile.Store {
	return grantfile.New(filepath.Join(state, "approvals", "grants"), filestore.EncodeKey)
}

// counts reports that a grant has not ended and that nobody took it back.
func counts(g persistence.Grant, now time.Time) bool {
	return g.Revoked == 0 && (g.Until == 0 || now.Before(time.UnixMilli(g.Until)))
}

// Grants lists the grants that count. A chat may know of one that its clock has ended,
// which is listed all the same.
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

// Revoke has a chat take grants back, as the user of the process. A chat without grants
// is not woken.
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
	reply, err := Ask[messages.GrantsRevoked](ctx, d.chat, messages.RevokeGrants{ChatKey: o.ChatKey, RequestID: rand.Text(), By: operator(), Numbers: o.Numbers})
	if err != nil {
		return result, err
	}
	result.Revoked, result.Reason = append(result.Revoked, reply.Numbers...), reply.Reason
	return result, nil
}
