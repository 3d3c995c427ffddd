package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/contextsearch"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxSwitches is how often one answer may switch the context.
const maxSwitches = 4

const reasonSwitched = "withdrawn: the conversation went on in another context; not executed"

// unswitched is the reason why a switch was refused. The history is unchanged.
type unswitched string

// Error implements error.
func (e unswitched) Error() string { return string(e) }

// ordered is a switch order with its time in Unix milliseconds, so that repeating it after a crash creates the same
// context.
type ordered struct {
	messages.ContextSwitch
	at int64
}

// orderSwitch stores a tool's order to switch the context in the metadata of the message that ends the run.
func (c *Chat) orderSwitch(meta uimessage.Metadata) uimessage.Metadata {
	run := c.state.Run
	if run.Switch.Kind == "" {
		return meta
	}
	base, _ := c.state.Turn(run.MessageID)
	return journal.WithSwitch(meta, journal.SwitchMark{ContextSwitch: run.Switch, N: base.Switch.N + 1, Egress: c.nextRow()})
}

// handOver ends a run that continues in another context. Watchers see one run, so its fates are only reported when the
// whole run ends, unless queued turns come first.
func (c *Chat) handOver(messageID string, fates []journal.Settled) {
	c.moved = slices.Concat(c.moved, fates)
	if !c.state.IsLast(messageID) {
		moved := c.takeMoved(nil)
		c.endFrame(messageID, "", moved, false)
		c.unmark(moved)
	}
}

// takeMoved returns the fates together with earlier ones that have not been reported yet.
func (c *Chat) takeMoved(fates []journal.Settled) []journal.Settled {
	all := slices.Concat(c.moved, fates)
	c.moved = nil
	return all
}

// obeySwitch creates the context that a run asked for, and reports whether there was such an order. Approved calls
// whose outcome is still missing come first, because they belong to the old context.
func (c *Chat) obeySwitch() bool {
	turn, at, from, ok := c.state.Switching()
	if _, continues := c.state.Continues(); !ok || continues || len(c.state.Due()) > 0 {
		return false
	}
	err := error(unswitched("the context was switched too often in one answer"))
	if turn.Switch.N <= maxSwitches {
		err = c.switchContext(ordered{turn.Switch.ContextSwitch, turn.Meta.TS}, from, at+1, c.resultOf(turn, at))
	}
	if err != nil {
		c.notSwitched(err)
	}
	c.p.IfRefused = switchRefused{}
	return true
}

// switchRefused reports that the store refused the new history.
type switchRefused struct{}

// resultOf returns the result of the run whose order to switch the context is carried out.
func (c *Chat) resultOf(turn journal.Turn, at int) journal.Result {
	result := journal.Result(turn.Meta.Result)
	if result != journal.ResultSwitching {
		return result
	}
	if at == len(c.state.History)-1 {
		return journal.ResultSwitched
	}
	return journal.ResultDone
}

// notSwitched turns the order into a failed tool call, so that the model learns why the context was not switched.
func (c *Chat) notSwitched(why error) {
	turn, at, _, ok := c.state.Switching()
	if !ok {
		return // Unreachable: the order is still there
	}
	c.log(slog.LevelWarn, "the context was not switched", "reason", why)
	c.append(journal.TurnReplaced{Turn: withoutSwitch(turn, why.Error()).Obeyed(c.resultOf(turn, at)).Message})
}

// refusedSwitch explains why the store refused the new history.
func refusedSwitch(err error) error {
	if errors.Is(err, journal.ErrDamaged) {
		return unswitched("the history is damaged and has to be repaired first")
	}
	return unswitched("it could not be written")
}

// withoutSwitch returns a turn whose last call has failed. No model has read the outcome of that call yet.
func withoutSwitch(turn journal.Turn, why string) journal.Turn {
	for _, p := range slices.Backward(turn.Parts) {
		if call, ok := p.(uimessage.Tool); ok {
			turn.Parts = journal.ReplaceCall(turn.Parts, call.ToolCallID, func(t uimessage.Tool) uimessage.Tool {
				t.State, t.Output, t.ErrorText = uimessage.ToolOutputError, nil, uimessage.Some("the context was not switched: "+why)
				return t
			})
			break
		}
	}
	return turn
}

// switchContext archives the turns before from and replaces them, in one rewrite, with those of another context or
// with none. The turns between from and to are kept, the last of them without its order, and so are all turns after
// to.
func (c *Chat) switchContext(order ordered, from, to int, result journal.Result) error {
	loaded, err := c.loadedTurns(order.Load)
	if err != nil {
		return err
	}
	c.endRequests(c.state.OpenRequests(), journal.AnswerWithdrawn, reasonSwitched, notices.Switched)
	c.checkpoint()
	rewrite := journal.Rewrite{At: c.now(), To: to, Meta: c.meta()}
	var over []journal.Turn
	if over = slices.Clone(c.state.History[from:to]); len(over) > 0 {
		over[len(over)-1] = over[len(over)-1].Obeyed(result)
	}
	rewrite.Insert = c.newHistory(loaded, over, from)
	rewrite.Meta.Cursor = journal.ArchiveOf(rewrite.Insert)
	rewrite.Meta.Pinned = c.needed(rewrite.Insert, contentsOf(c.state.History[to:]))
	if left := c.state.History[:from]; from > 0 && !sameTurns(loaded, left) { // otherwise it is in the archive already
		left := journal.NewContext(order.ContextSwitch, order.at, left)
		rewrite.Context = &left
	}
	rewrite.Meta.Tokens = journal.TokenCounts{}
	c.rewrite(rewrite)
	c.newBegin("context")
	c.dropCompaction()
	c.compaction.ready, c.compaction.aged = nil, nil
	c.log(slog.LevelInfo, "the context was switched", "order", order.Kind, "left", order.ID, "loaded", order.Load, "turns", len(c.state.History))
	return nil
}

// sameTurns reports whether turns are exactly those of a loaded context.
func sameTurns(loaded []uimessage.Message, turns []journal.Turn) bool {
	return slices.EqualFunc(loaded, turns, func(m uimessage.Message, t journal.Turn) bool { return m.ID == t.ID })
}

// loadedTurns reads the turns of the context to load.
func (c *Chat) loadedTurns(id string) ([]uimessage.Message, error) {
	if id == "" {
		return nil, nil
	}
	loaded, err := c.store.ReadContext(context.Background(), id)
	if err != nil {
		c.log(slog.LevelWarn, "a context could not be read", "context_id", id, "error", err)
		return nil, unswitched("the context " + id + " cannot be read")
	}
	return loaded.Messages, nil
}

// newHistory returns the beginning of the new history. If a loaded context ends with an open user turn, that turn was
// answered elsewhere, so it is closed here and not answered again.
func (c *Chat) newHistory(loaded []uimessage.Message, over []journal.Turn, from int) []uimessage.Message {
	var out []uimessage.Message
	for _, m := range loaded {
		if !slices.ContainsFunc(c.state.History[from:], func(t journal.Turn) bool { return t.ID == m.ID }) {
			out = append(out, m)
		}
	}
	if n := len(out); n > 0 && !journal.NewTurn(out[n-1]).Ends() {
		meta := c.plainMeta()
		meta.Result, meta.Model, meta.Demo = string(journal.ResultRewound), "", false
		out = append(out, uimessage.Message{
			ID: "a:" + string(c.key) + ":" + c.newID(), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{}, Metadata: meta.Append(nil),
		})
	}
	for _, t := range over {
		out = append(out, t.Message)
	}
	return out
}

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
