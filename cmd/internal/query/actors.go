package query

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/messages"
)

// ErrNotRunning says that the actors of no host can be asked.
var ErrNotRunning = errors.New("no host is running")

// ActorTree are the actors of a running host. Members are only ever added.
type ActorTree struct {
	// Actors are the names of those that the guardian supervises.
	Actors []string `json:"actors"`
	// Panics counts the panics of all actors of a kind since the start. Each was followed by a restart, unless the
	// host gave up.
	Panics map[string]int64 `json:"panics"`
	// Shards are those that have chats in memory.
	Shards []ShardLine `json:"shards"`
	// Chats are the first of the chats in memory: those in trouble, then those that were used last. More is how many
	// others there are.
	Chats []ActiveLine `json:"chats"`
	More  int          `json:"more,omitempty"`
}

// ShardLine is one shard.
type ShardLine struct {
	Shard int   `json:"shard"`
	Chats int   `json:"chats"`
	Bytes int64 `json:"bytes"`
	// WaitedMS is how long a question waited in the mailboxes of the router and the shard.
	WaitedMS float64 `json:"waitedMs"`
}

// ActiveState is the state of a chat's actor.
type ActiveState string

// The states.
const (
	ActiveUp     ActiveState = "up"
	ActiveEnding ActiveState = "ending"
	ActiveDown   ActiveState = "down"   // it panicked, and waits for its restart
	ActiveParked ActiveState = "parked" // it panicked again and again, and rests
)

// ActiveLine is one chat in memory.
type ActiveLine struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Shard   int              `json:"shard"`
	State   ActiveState      `json:"state"`
	Running bool             `json:"running,omitempty"`
	Last    time.Time        `json:"last"` // when it was sent something
	Bytes   int64            `json:"bytes"`
	Waiting int              `json:"waiting,omitempty"` // messages that wait for its return
	Panics  int              `json:"panics,omitempty"`  // in a row
}

// trouble is larger for a chat that needs somebody to look at it.
func (l ActiveLine) trouble() int {
	return l.Panics + l.Waiting
}

// activeMost is how many chats an [ActorTree] has.
const activeMost = 500

// Actors asks all shards of a running host about their chats.
func (d *Desk) Actors(ctx context.Context) (ActorTree, error) {
	out := ActorTree{Actors: []string{}, Shards: []ShardLine{}, Chats: []ActiveLine{}}
	if !d.live {
		return out, ErrNotRunning
	}
	for n := range router.Shards {
		began := time.Now()
		reply, err := Ask[messages.ShardReply](ctx, d.chat, messages.ShardQuery{Shard: n})
		if err != nil {
			return out, err
		}
		if len(reply.Chats) == 0 {
			continue
		}
		line := ShardLine{Shard: n, Chats: len(reply.Chats), WaitedMS: float64(time.Since(began).Microseconds()) / 1000}
		for _, c := range reply.Chats {
			line.Bytes += c.Bytes
			out.Chats = append(out.Chats, activeLine(n, c))
		}
		out.Shards = append(out.Shards, line)
	}
	sort.Slice(out.Chats, func(i, j int) bool {
		a, b := &out.Chats[i], &out.Chats[j]
		return cmp.Or(cmp.Compare(b.trouble(), a.trouble()), b.Last.Compare(a.Last), cmp.Compare(a.ChatKey, b.ChatKey)) < 0
	})
	out.More = max(0, len(out.Chats)-activeMost)
	out.Chats = out.Chats[:len(out.Chats)-out.More]
	running := d.running(ctx)
	for i := range out.Chats {
		out.Chats[i].Running = running[out.Chats[i].ChatKey]
	}
	return out, nil
}

func activeLine(shard int, c messages.ActiveChat) ActiveLine {
	state := ActiveUp
	switch {
	case c.Ending:
		state = ActiveEnding
	case c.Parked:
		state = ActiveParked
	case c.Down:
		state = ActiveDown
	}
	return ActiveLine{ChatKey: c.ChatKey, Shard: shard, State: state, Last: c.Last.UTC(), Bytes: c.Bytes, Waiting: c.Waiting, Panics: c.Panics}
}

// UnloadOrder has a chat unloaded from memory or, with Restart, loaded again from its journal.
type UnloadOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Restart bool             `json:"restart,omitempty"`
}

// UnloadResult is the result of an [UnloadOrder]. Members are only ever added.
type UnloadResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	// Refused is busy or not_loaded; nothing was changed then.
	Refused messages.UnloadRefusal `json:"refused,omitempty"`
}

// Unload has a chat of a running host unloaded or restarted.
func (d *Desk) Unload(ctx context.Context, o UnloadOrder) (UnloadResult, error) {
	if !d.live {
		return UnloadResult{}, ErrNotRunning
	}
	done, err := Ask[messages.ChatUnloaded](ctx, d.chat, messages.UnloadChat{ChatKey: o.ChatKey, Restart: o.Restart})
	return UnloadResult{ChatKey: o.ChatKey, Refused: done.Refused}, err
}
