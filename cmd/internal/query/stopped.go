package query

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/outbox"
	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// chatFiles answers instead of the actors of chats, from the files of a state folder that no host uses. It carries
// out the orders that need only files.
type chatFiles struct {
	state string
	store *filestore.Store
	zone  func() (*time.Location, error)
}

// ask answers like the actor of a chat.
func (f chatFiles) ask(ctx context.Context, question any) (any, error) {
	switch q := question.(type) {
	case messages.ViewQuery:
		state, err := readState(ctx, f.store, q.ChatKey)
		if err != nil {
			return nil, err
		}
		return machine.View(q.ChatKey, state), nil
	case messages.OutboxQuery:
		state, err := readState(ctx, f.store, q.ChatKey)
		if err != nil {
			return nil, err
		}
		return messages.OutboxReply{ChatKey: q.ChatKey, Items: outbox.Items(state)}, nil
	case messages.RewindChat:
		return f.rewind(ctx, q)
	case messages.RevokeGrants:
		return f.revoke(ctx, q)
	case messages.ForgetChat:
		return messages.ChatForgotten{ChatKey: q.ChatKey}, f.forget(ctx, q)
	default:
		return nil, fmt.Errorf("only a running host can do that (%T)", question)
	}
}

func readState(ctx context.Context, store *filestore.Store, key messages.ChatKey) (state *journal.State, err error) {
	c, err := store.OpenChat(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return loadState(ctx, c)
}

func loadState(ctx context.Context, c persistence.Chat) (*journal.State, error) {
	snap, err := c.Load(ctx)
	if err != nil {
		return nil, err
	}
	return journal.Replay(snap)
}

// ReadChat reads one chat of a store that no host uses.
func ReadChat(ctx context.Context, store *filestore.Store, key messages.ChatKey) (ChatDocument, error) {
	if err := Present(store, key); err != nil {
		return ChatDocument{}, err
	}
	state, err := readState(ctx, store, key)
	if err != nil {
		return ChatDocument{}, err
	}
	return documentOf(machine.View(key, state)), nil
}

// rewind moves the turns after the one to keep to an archive. A damaged history is refused with
// [journal.ErrDamaged] and left unchanged.
func (f chatFiles) rewind(ctx context.Context, order messages.RewindChat) (reply messages.ChatRewound, err error) {
	reply.ChatKey = order.ChatKey
	c, err := f.store.OpenChat(ctx, order.ChatKey)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	state, err := loadState(ctx, c)
	if err != nil {
		return reply, err
	}
	if !state.Rests() || len(state.OpenRequests()) > 0 {
		reply.Reason = refusedNotAtRest
		return reply, nil
	}
	// If this process is killed, the mark tells the next host not to trust what it finds. It stays if the next host has
	// something to send.
	if err := c.Wake(ctx); err != nil {
		return reply, err
	}
	if len(state.Outbox)+len(state.Referrals)+len(state.Buttons) == 0 {
		defer func() { err = errors.Join(err, c.Rest(ctx)) }()
	}
	from := 1 + slices.IndexFunc(state.History, func(t journal.Turn) bool { return t.ID == order.Keep })
	now := time.Now()
	if !state.Clean() {
		if err := c.Checkpoint(ctx, state.Checkpoint(now.UnixMilli())); err != nil {
			return reply, err
		}
		state.Checkpointed()
	}
	turn := "a:" + string(order.ChatKey) + ":" + strings.ToLower(rand.Text())
	return reply, c.Rewrite(ctx, state.Rewound(order.ChatKey, from, now, turn))
}

// revoke marks grants as revoked in their file: all the named ones, or none if one of them does not exist.
func (f chatFiles) revoke(ctx context.Context, order messages.RevokeGrants) (messages.GrantsRevoked, error) {
	reply := messages.GrantsRevoked{ChatKey: order.ChatKey}
	store, now := Grants(f.state), time.Now()
	list, err := store.Grants(ctx, order.ChatKey)
	if err != nil {
		return reply, err
	}
	permission.Number(list)
	var revoked []permission.Grant
	for i, g := range list {
		if counts(g, now) && (len(order.Numbers) == 0 || slices.Contains(order.Numbers, g.N)) {
			list[i].Revoked = now.UnixMilli()
			revoked, reply.Numbers = append(revoked, g), append(reply.Numbers, g.N)
		}
	}
	if slices.ContainsFunc(order.Numbers, func(n int) bool { return !slices.Contains(reply.Numbers, n) }) {
		return messages.GrantsRevoked{ChatKey: order.ChatKey, Reason: refusedNotFound}, nil
	}
	if err := store.SaveGrants(ctx, order.ChatKey, list); err != nil {
		return reply, err
	}
	var failed error
	log := audit.NewApprovals(f.state, func(err error) { failed = err })
	for _, g := range revoked {
		log.Write(decision.AuditEntry{
			TS: now, Event: "approval", ChatKey: order.ChatKey, RequestID: order.RequestID, Result: "revoked",
			By: order.By.Platform + "-" + order.By.ID, Name: g.ID, Rule: g.Covers(),
		})
	}
	return reply, errors.Join(failed, log.Close())
}

// forget deletes everything that is stored about a chat, and about the chats in which its tasks ran.
func (f chatFiles) forget(ctx context.Context, order messages.ForgetChat) error {
	zone, err := f.zone()
	if err != nil {
		return err
	}
	state, err := readState(ctx, f.store, order.ChatKey)
	if err != nil {
		return err
	}
	e := NewEraser(f.state, f.store, zone)
	defer func() { _ = e.Fires.Close() }() // no file is open
	addr, _ := order.ChatKey.Address()
	chatType := ""
	for _, t := range state.History {
		chatType = cmp.Or(t.Meta.ChatType, chatType)
	}
	alone := messages.IsAlone(chatType, addr.Chat)
	const all = 1 << 20
	ledger, err := Ledger(f.state, order.ChatKey, all)
	if err != nil {
		return err
	}
	related, err := e.Forget(ctx, state.Forgotten(order.ChatKey, time.Now(), order.By, alone, slices.Values(append(ledger, state.UncheckpointedLedger()...))))
	for _, other := range related {
		state, bad := readState(ctx, f.store, other)
		if bad == nil {
			bad = e.finish(ctx, state.Forgotten(other, time.Now(), order.By, false, nil))
		}
		err = errors.Join(err, bad)
	}
	return err
}
