package machine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
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
	run := c.State.Run
	if run.Switch.Kind == "" {
		return meta
	}
	base, _ := c.State.Turn(run.MessageID)
	return journal.WithSwitch(meta, journal.SwitchMark{ContextSwitch: run.Switch, N: base.Switch.N + 1, Egress: c.nextRow()})
}

// handOver ends a run that continues in another context. Watchers see one run, so its fates are only reported when the
// whole run ends, unless queued turns come first.
func (c *Chat) handOver(messageID string, fates []journal.Settled) {
	c.moved = slices.Concat(c.moved, fates)
	if !c.State.IsLast(messageID) {
		moved := c.takeMoved(nil)
		c.EndFrame(messageID, "", moved, false)
		c.Unmark(moved)
	}
}

// takeMoved returns the fates together with earlier ones that have not been reported yet.
func (c *Chat) takeMoved(fates []journal.Settled) []journal.Settled {
	all := slices.Concat(c.moved, fates)
	c.moved = nil
	return all
}

// switchDue creates the context that a run asked for, and reports whether there was such an order. Approved calls
// whose outcome is still missing come first, because they belong to the old context.
func (c *Chat) switchDue() bool {
	turn, at, from, ok := c.State.Switching()
	if _, continues := c.State.Continues(); !ok || continues || len(c.State.Due()) > 0 {
		return false
	}
	err := error(unswitched("the context was switched too often in one answer"))
	switch {
	case c.requests.OverOpenRequests(decision.AskerOf(decision.Newest(c.State.History[:at]))):
		err = unswitched("requests wait here for somebody else's decision, and this would withdraw them; /approvals" + c.At() + " lists them")
	case turn.Switch.N <= maxSwitches:
		err = c.switchContext(ordered{turn.Switch.ContextSwitch, turn.Meta.TS}, from, at+1, c.resultOf(turn, at))
	}
	if err != nil {
		c.notSwitched(err)
	}
	c.Plan.IfRefused = switchRefused{}
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
	if at == len(c.State.History)-1 {
		return journal.ResultSwitched
	}
	return journal.ResultDone
}

// notSwitched turns the order into a failed tool call, so that the model learns why the context was not switched.
func (c *Chat) notSwitched(why error) {
	turn, at, _, ok := c.State.Switching()
	if !ok {
		return // Unreachable: the order is still there
	}
	c.Log(slog.LevelWarn, "the context was not switched", "reason", why)
	c.Append(journal.TurnReplaced{Turn: withoutSwitch(turn, why.Error()).Obeyed(c.resultOf(turn, at)).Message})
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
	c.requests.End(c.State.OpenRequests(), journal.AnswerWithdrawn, reasonSwitched, notices.Switched)
	c.Checkpoint()
	rewrite := journal.Rewrite{At: c.Now(), To: to, Meta: c.Meta()}
	var over []journal.Turn
	if over = slices.Clone(c.State.History[from:to]); len(over) > 0 {
		over[len(over)-1] = over[len(over)-1].Obeyed(result)
	}
	rewrite.Insert = c.newHistory(loaded, over, from)
	rewrite.Meta.Cursor = journal.ArchiveOf(rewrite.Insert)
	rewrite.Meta.Pinned = c.system.Needed(rewrite.Insert, decision.ContentsOf(c.State.History[to:]))
	if left := c.State.History[:from]; from > 0 && !sameTurns(loaded, left) { // otherwise it is in the archive already
		left := journal.NewContext(order.ContextSwitch, order.at, left)
		rewrite.Context = &left
	}
	rewrite.Meta.Tokens = journal.TokenCounts{}
	c.Rewrite(rewrite)
	c.newBegin("context")
	c.dropCompaction()
	c.compaction.ready, c.compaction.aged = nil, nil
	c.Log(slog.LevelInfo, "the context was switched", "order", order.Kind, "left", order.ID, "loaded", order.Load, "turns", len(c.State.History))
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
	loaded, err := c.Store.ReadContext(context.Background(), id)
	if err != nil {
		c.Log(slog.LevelWarn, "a context could not be read", "context_id", id, "error", err)
		return nil, unswitched("the context " + id + " cannot be read")
	}
	return loaded.Messages, nil
}

// newHistory returns the beginning of the new history. If a loaded context ends with an open user turn, that turn was
// answered elsewhere, so it is closed here and not answered again.
func (c *Chat) newHistory(loaded []uimessage.Message, over []journal.Turn, from int) []uimessage.Message {
	var out []uimessage.Message
	for _, m := range loaded {
		if !slices.ContainsFunc(c.State.History[from:], func(t journal.Turn) bool { return t.ID == m.ID }) {
			out = append(out, m)
		}
	}
	if n := len(out); n > 0 && !journal.NewTurn(out[n-1]).Ends() {
		meta := c.PlainMeta()
		meta.Result, meta.Model, meta.Demo = string(journal.ResultRewound), "", false
		out = append(out, uimessage.Message{
			ID: "a:" + string(c.Key) + ":" + c.NewID(), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{}, Metadata: meta.Append(nil),
		})
	}
	for _, t := range over {
		out = append(out, t.Message)
	}
	return out
}

// shownContexts is how many contexts people are shown.
const shownContexts = 10

// contextCommand carries out /new, /contexts and /load. Repeating a command after a crash that lost the answer is
// safe: an empty context is not archived, and a context that is already loaded is not loaded again.
func (c *Chat) contextCommand(msg messages.AcceptIngress, turn journal.Turn) decision.ContextsAnswer {
	if !c.Contexts {
		return decision.ContextsAnswer{}
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
	return decision.ContextsAnswer{}
}

// commandBy identifies a command, so that a repetition after a crash creates the same context.
type commandBy struct {
	ingressID string
	at        int64
}

func (c *Chat) newByCommand(by commandBy, title string) decision.ContextsAnswer {
	switch {
	case !c.State.Rests():
		return decision.ContextsAnswer{Outcome: decision.ContextsBusy}
	case len(c.State.History) == 0:
		return decision.ContextsAnswer{Outcome: decision.ContextsEmpty}
	}
	return c.switchByCommand(by, messages.ContextSwitch{Kind: messages.ContextNew, Title: title}, decision.ContextsAnswer{Outcome: decision.ContextsNew})
}

func (c *Chat) switchByCommand(by commandBy, order messages.ContextSwitch, done decision.ContextsAnswer) decision.ContextsAnswer {
	sum := sha256.Sum256([]byte(by.ingressID))
	order.ID, order.Reason = messages.NewContextID(time.UnixMilli(by.at), hex.EncodeToString(sum[:])), "by command"
	n := len(c.State.History)
	if _, refused := c.In.Msg.(commandRefused); refused {
		return decision.ContextsAnswer{Outcome: decision.ContextsFailed}
	}
	c.Plan.IfRefused = commandRefused{c.In.Msg}
	if err := c.switchContext(ordered{order, by.at}, n, n, ""); err != nil {
		c.Log(slog.LevelWarn, "the context was not switched", "error", err)
		return decision.ContextsAnswer{Outcome: decision.ContextsFailed}
	}
	return done
}

// commandRefused reports that the store refused the history that a command asked for.
type commandRefused struct{ of any }

func (c *Chat) listContexts() decision.ContextsAnswer {
	items, err := c.Store.Contexts(context.Background())
	if err != nil {
		c.Log(slog.LevelWarn, "the contexts cannot be listed", "error", err)
		return decision.ContextsAnswer{Outcome: decision.ContextsFailed}
	}
	return decision.ContextsAnswer{Outcome: decision.ContextsListed, Items: items[:min(shownContexts, len(items))]}
}

func (c *Chat) loadByCommand(by commandBy, what string) decision.ContextsAnswer {
	if what == "" {
		return c.listContexts()
	}
	if !c.State.Rests() {
		return decision.ContextsAnswer{Outcome: decision.ContextsBusy}
	}
	items, err := c.Store.Contexts(context.Background())
	if err != nil {
		c.Log(slog.LevelWarn, "the contexts cannot be listed", "error", err)
		return decision.ContextsAnswer{Outcome: decision.ContextsFailed}
	}
	best, found := contextsearch.Find(items, what, shownContexts)
	if n, isNumber := messages.NumberOf(what); isNumber && n < 100 { // a place in the list
		if n > min(shownContexts, len(items)) {
			return c.listContexts()
		}
		best, found = items[n-1:n], true
	}
	if !found {
		return decision.ContextsAnswer{Outcome: decision.ContextsChoose, Items: best}
	}
	done := decision.ContextsAnswer{Outcome: decision.ContextsLoaded, Items: best}
	if c.isCurrent(best[0]) {
		return done
	}
	return c.switchByCommand(by, messages.ContextSwitch{Kind: messages.ContextLoad, Load: best[0].ID}, done)
}

// isCurrent reports whether the history is exactly the given context.
func (c *Chat) isCurrent(item journal.ContextItem) bool {
	if item.MessageCount != len(c.State.History) {
		return false
	}
	loaded, err := c.Store.ReadContext(context.Background(), item.ID)
	return err == nil && sameTurns(loaded.Messages, c.State.History)
}
