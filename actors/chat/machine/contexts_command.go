package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/contextsearch"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ContextsAre says what became of a person's command about contexts.
type ContextsAre string

// Outcomes of a command about contexts.
const (
	ContextsNew    ContextsAre = "new"    // the chat starts a new context
	ContextsLoaded ContextsAre = "loaded" // Items holds the loaded context
	ContextsListed ContextsAre = "listed" // Items holds the newest contexts
	ContextsChoose ContextsAre = "choose" // no single context matches; Items holds the best matches
	ContextsEmpty  ContextsAre = "empty"  // there is no history to leave
	ContextsBusy   ContextsAre = "busy"   // a run is in progress
	ContextsFailed ContextsAre = "failed"
	ContextsOff    ContextsAre = ""
)

// ContextsAnswer is the answer to a person's command about contexts.
type ContextsAnswer struct {
	Are   ContextsAre
	Items []journal.ContextItem
}

// shownContexts is how many contexts people are shown.
const shownContexts = 10

// contextCommand carries out /new, /contexts and /load. Repeating a command after a crash that lost the answer is
// safe: an empty context is not archived, and a context that is already loaded is not loaded again.
func (c *Chat) contextCommand(msg messages.AcceptIngress, turn journal.Turn) ContextsAnswer {
	if !c.Contexts {
		return ContextsAnswer{}
	}
	by := commandBy{msg.IngressID, turn.Meta.TS}
	switch msg.Command {
	case "new":
		return c.newByCommand(by, msg.Args)
	case "contexts":
		return c.listContexts()
	case "load":
		return c.loadByCommand(by, strings.TrimSpace(msg.Args))
	}
	return ContextsAnswer{}
}

// commandBy identifies a command, so that a repetition after a crash creates the same context.
type commandBy struct {
	ingressID string
	at        int64
}

// settledAll reports whether nothing in the history is waiting for anything but a person.
func (c *Chat) settledAll() bool {
	_, continues := c.state.Continues()
	return c.state.Run == nil && c.state.OpenTurns() == 0 && !continues && len(c.state.Due()) == 0
}

func (c *Chat) newByCommand(by commandBy, title string) ContextsAnswer {
	switch {
	case !c.settledAll():
		return ContextsAnswer{Are: ContextsBusy}
	case len(c.state.History) == 0:
		return ContextsAnswer{Are: ContextsEmpty}
	}
	return c.switchByCommand(by, messages.ContextSwitch{Kind: messages.ContextNew, Title: title}, ContextsAnswer{Are: ContextsNew})
}

func (c *Chat) switchByCommand(by commandBy, order messages.ContextSwitch, done ContextsAnswer) ContextsAnswer {
	sum := sha256.Sum256([]byte(by.ingressID))
	order.ID, order.Reason = messages.NewContextID(time.UnixMilli(by.at), hex.EncodeToString(sum[:])), "by command"
	n := len(c.state.History)
	if _, refused := c.in.Msg.(commandRefused); refused {
		return ContextsAnswer{Are: ContextsFailed}
	}
	c.p.IfRefused = commandRefused{c.in.Msg}
	if err := c.switchContext(ordered{order, by.at}, n, n, ""); err != nil {
		c.log(slog.LevelWarn, "the context was not switched", "error", err)
		return ContextsAnswer{Are: ContextsFailed}
	}
	return done
}

// commandRefused reports that the store refused the history that a command asked for.
type commandRefused struct{ of any }

func (c *Chat) listContexts() ContextsAnswer {
	items, err := c.store.Contexts(context.Background())
	if err != nil {
		c.log(slog.LevelWarn, "the contexts cannot be listed", "error", err)
		return ContextsAnswer{Are: ContextsFailed}
	}
	return ContextsAnswer{Are: ContextsListed, Items: items[:min(shownContexts, len(items))]}
}

func (c *Chat) loadByCommand(by commandBy, what string) ContextsAnswer {
	if what == "" {
		return c.listContexts()
	}
	if !c.settledAll() {
		return ContextsAnswer{Are: ContextsBusy}
	}
	items, err := c.store.Contexts(context.Background())
	if err != nil {
		c.log(slog.LevelWarn, "the contexts cannot be listed", "error", err)
		return ContextsAnswer{Are: ContextsFailed}
	}
	best, found := contextsearch.Find(items, what, shownContexts)
	if n, err := strconv.Atoi(what); err == nil && n >= 1 && n <= min(shownContexts, len(items)) {
		best, found = items[n-1:n], true
	}
	if !found {
		return ContextsAnswer{Are: ContextsChoose, Items: best}
	}
	done := ContextsAnswer{Are: ContextsLoaded, Items: best}
	if c.isCurrent(best[0]) {
		return done
	}
	return c.switchByCommand(by, messages.ContextSwitch{Kind: messages.ContextLoad, Load: best[0].ID}, done)
}

// isCurrent reports whether the history is exactly the given context.
func (c *Chat) isCurrent(item journal.ContextItem) bool {
	if item.MessageCount != len(c.state.History) {
		return false
	}
	loaded, err := c.store.ReadContext(context.Background(), item.ID)
	return err == nil && sameTurns(loaded.Messages, c.state.History)
}
