package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// The states of a line besides the fates of the ledger.
const (
	lineOpen   = "open"   // a run works on it
	lineWaits  = "waits"  // the model has not read it
	lineStored = "stored" // an answer that is in the history and goes nowhere by itself
)

// chatLine is one message of a chat, in either direction. Members are only added.
type chatLine struct {
	Arrived time.Time  `json:"arrived"`
	Settled *time.Time `json:"settled,omitempty"` // when its state became final
	Dir     string     `json:"dir"`               // in, out
	ID      string     `json:"id,omitempty"`      // of the turn
	Who     string     `json:"who,omitempty"`
	UserID  string     `json:"userId,omitempty"`
	State   string     `json:"state"` // a fate, or open, waits, stored
	Reason  string     `json:"reason,omitempty"`
	RunID   string     `json:"runId,omitempty"`
	Step    int        `json:"step,omitempty"`
	Text    string     `json:"text,omitempty"`
}

// timeline are the messages of a chat in the order of their arrival: the lines of the
// ledger, and what only the history has yet. That is what is open, answers of platforms
// whose readers fetch them (web, terminal, API), and lines of a run that has just ended.
func timeline(doc host.ChatDocument, ledger []persistence.LedgerEntry) []chatLine {
	turns, names, fates := map[string]uimessage.Metadata{}, map[string]string{}, map[string]uimessage.FateRecord{}
	for _, m := range slices.Concat(doc.Messages, doc.Waiting) {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // what cannot be read of it is not shown
		turns[m.ID] = meta
		name(names, meta.UserID, meta.Username)
		for _, f := range meta.Fates {
			fates[f.ID] = f
		}
	}
	for _, l := range ledger {
		name(names, l.UserID, l.Username)
	}
	var out []chatLine
	written := map[string]bool{}
	for _, l := range ledger {
		written[l.Dir+l.TurnID] = true
		settled := time.UnixMilli(l.TS)
		arrived := cmp.Or(l.Arrived, turns[l.TurnID].TS, l.TS)
		if l.Dir == persistence.DirOut {
			arrived = cmp.Or(l.Arrived, l.TS)
		}
		out = append(out, chatLine{
			Arrived: time.UnixMilli(arrived), Settled: &settled, Dir: l.Dir, ID: l.TurnID, Who: whoOf(names, l.Dir, l.UserID, l.Username), UserID: l.UserID,
			State: string(l.Fate), Reason: l.Reason, RunID: l.RunID, Step: l.Step, Text: l.Text,
		})
	}
	out = append(out, unwritten(doc, turns, names, fates, written)...)
	slices.SortStableFunc(out, func(a, b chatLine) int { return a.Arrived.Compare(b.Arrived) })
	return out
}

// unwritten are the messages of the history that the ledger has no line of.
func unwritten(
	doc host.ChatDocument, turns map[string]uimessage.Metadata, names map[string]string, fates map[string]uimessage.FateRecord, written map[string]bool,
) []chatLine {
	open := map[string]string{}
	for _, o := range openTurns(doc) {
		open[o.ID] = lineOpen
		if o.Waiting {
			open[o.ID] = lineWaits
		}
	}
	var out []chatLine
	for _, m := range slices.Concat(doc.Messages, doc.Waiting) {
		meta, dir := turns[m.ID], persistence.DirIn
		if m.Role == uimessage.RoleAssistant {
			dir = persistence.DirOut
		}
		text := persistence.Text(m)
		if written[dir+m.ID] || meta.Kind == uimessage.KindSummary || meta.Kind == uimessage.KindGap || dir == persistence.DirOut && text == "" {
			continue
		}
		l := chatLine{Arrived: time.UnixMilli(meta.TS), Dir: dir, ID: m.ID, UserID: meta.UserID, RunID: meta.RunID, Text: text}
		l.Who = whoOf(names, dir, meta.UserID, meta.Username)
		f, ended := fates[m.ID]
		switch {
		case dir == persistence.DirOut && meta.Result == "":
			l.State = lineOpen
		case dir == persistence.DirOut:
			l.State, l.Reason = lineStored, meta.Reason
		case ended:
			l.State, l.Reason, l.RunID, l.Step = string(f.Fate), f.Reason, f.RunID, int(f.Step)
		default:
			l.State = cmp.Or(open[m.ID], string(uimessage.FateAnswered))
		}
		out = append(out, l)
	}
	return out
}

// name keeps the name of a person if it says more than the id.
func name(names map[string]string, id, username string) {
	if id != "" && username != "" && username != id {
		names[id] = username
	}
}

// whoOf is who said something: a name where one is known.
func whoOf(names map[string]string, dir, id, username string) string {
	switch {
	case names[id] != "" && id != "":
		return names[id]
	case username != "" || id != "":
		return cmp.Or(username, id)
	case dir == persistence.DirOut:
		return "agent"
	default:
		return "host"
	}
}

// lastLines are the newest lines of a timeline; all if last is negative.
func lastLines(lines []chatLine, last int) []chatLine {
	if last < 0 || len(lines) <= last {
		return lines
	}
	return lines[len(lines)-last:]
}

// text writes one line for people.
func (l chatLine) text() string {
	state := l.State
	switch {
	case l.State == lineWaits:
		state = "open, waiting"
	case l.Reason != "":
		state += " (" + oneLine(l.Reason, 64) + ")"
	}
	if l.Step > 0 && l.State == string(persistence.FateMerged) {
		state += fmt.Sprintf(" from step %d of run %s", l.Step, l.RunID)
	}
	if l.Settled != nil && l.Settled.Sub(l.Arrived) >= time.Second {
		state += " after " + l.Settled.Sub(l.Arrived).Round(time.Second).String()
	}
	return fmt.Sprintf("%s  %-3s  %s  %s  %s\n", l.Arrived.Local().Format("2006-01-02 15:04:05"), l.Dir, oneLine(l.Who, 64), state, oneLine(l.Text, 80))
}

// linesText writes a timeline for people.
func linesText(lines []chatLine) string {
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(l.text())
	}
	return out.String()
}
