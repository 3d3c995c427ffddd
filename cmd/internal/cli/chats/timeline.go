package chats

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The states of a line, in addition to the fates of the ledger.
const (
	lineOpen   = "open"   // a run is working on it
	lineWaits  = "waits"  // the model has not read it
	lineStored = "stored" // an answer in the history that readers fetch themselves
)

// chatLine is one message of a chat, in either direction. Members are only ever added.
type chatLine struct {
	Arrived time.Time  `json:"arrived"`
	Settled *time.Time `json:"settled,omitempty"` // when it got its final state
	Dir     string     `json:"dir"`               // in, out
	ID      string     `json:"id,omitempty"`      // of the turn, or what the platform calls a message that became none
	Who     string     `json:"who,omitempty"`
	UserID  string     `json:"userId,omitempty"`
	State   string     `json:"state"` // a fate, or open, waits or stored
	Reason  string     `json:"reason,omitempty"`
	RunID   string     `json:"runId,omitempty"`
	Step    int        `json:"step,omitempty"`
	Text    string     `json:"text,omitempty"`
}

// timeline are the messages of a chat in the order of their arrival: the lines of the ledger, and the messages that
// only the history has so far. The latter are open messages, answers on platforms whose readers fetch them (web,
// terminal, API), and messages of a run that has just ended.
func timeline(doc query.ChatDocument, ledger []journal.LedgerEntry) []chatLine {
	turns, names, fates := map[string]uimessage.Metadata{}, map[string]string{}, map[string]uimessage.FateRecord{}
	for _, m := range slices.Concat(doc.Messages, doc.Waiting) {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // unreadable metadata is not shown
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
		if l.Dir == journal.DirOut {
			arrived = cmp.Or(l.Arrived, l.TS)
		}
		out = append(out, chatLine{
			Arrived: time.UnixMilli(arrived), Settled: &settled, Dir: l.Dir, ID: cmp.Or(l.TurnID, l.MessageID), Who: whoOf(names, l.Dir, l.UserID, l.Username), UserID: l.UserID,
			State: string(l.Fate), Reason: l.Reason, RunID: l.RunID, Step: l.Step, Text: l.Text,
		})
	}
	out = append(out, unwritten(doc, turns, names, fates, written)...)
	sort.SliceStable(out, func(i, j int) bool { return out[i].Arrived.Before(out[j].Arrived) })
	return out
}

// unwritten are the messages of the history without a line in the ledger.
func unwritten(
	doc query.ChatDocument, turns map[string]uimessage.Metadata, names map[string]string, fates map[string]uimessage.FateRecord, written map[string]bool,
) []chatLine {
	open := map[string]string{}
	for _, o := range openTurns(doc) {
		open[o.ID] = lineOpen
		if o.Waiting {
			open[o.ID] = lineWaits
		}
	}
	var out []chatLine
	var last int64
	for _, m := range slices.Concat(doc.Messages, doc.Waiting) {
		meta, dir := turns[m.ID], journal.DirIn
		last = cmp.Or(meta.TS, last) // an answer in progress has no time yet: it belongs after what it answers
		if m.Role == uimessage.RoleAssistant {
			dir = journal.DirOut
		}
		text := journal.Text(m)
		if words := meta.Notice(); words != "" {
			text = strings.TrimSpace(text + "\n\n" + words) // as people see it
		}
		if written[dir+m.ID] || meta.Kind == uimessage.KindSummary || meta.Kind == uimessage.KindGap || dir == journal.DirOut && text == "" {
			continue
		}
		l := chatLine{Arrived: time.UnixMilli(last), Dir: dir, ID: m.ID, UserID: meta.UserID, RunID: meta.RunID, Text: text}
		l.Who = whoOf(names, dir, meta.UserID, meta.Username)
		f, ended := fates[m.ID]
		switch {
		case dir == journal.DirOut && meta.Result == "":
			l.State = lineOpen
		case dir == journal.DirOut:
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

// name records the name of a person if it differs from the id.
func name(names map[string]string, id, username string) {
	if id != "" && username != "" && username != id {
		names[id] = username
	}
}

// whoOf is the author of a message: the name if known.
func whoOf(names map[string]string, dir, id, username string) string {
	switch {
	case names[id] != "" && id != "":
		return names[id]
	case username != "" || id != "":
		return cmp.Or(username, id)
	case dir == journal.DirOut:
		return "agent"
	default:
		return "host"
	}
}

// stateWord is the word for a state or a direction in the terminal's language.
func stateWord(a *console.Console, state string) string {
	words := map[string]string{lineWaits: "open, waiting"}
	if a.ReadsChinese() {
		words = map[string]string{
			string(journal.FateAnswered): "已回答", string(journal.FateMerged): "已并入", string(journal.FateIgnored): "已忽略",
			string(journal.FateDeclined): "已拒收", string(journal.FateStopped): "已停止",
			lineOpen: "未决", lineWaits: "未决，等待中", lineStored: "已保存", journal.DirIn: "收", journal.DirOut: "发",
		}
	}
	return cmp.Or(words[state], state)
}

// lineText writes one message for people.
func lineText(a *console.Console, l chatLine) string {
	state := stateWord(a, l.State)
	if l.Reason != "" && l.State != lineWaits {
		state += fmt.Sprintf(a.Text(" (%s)", "（%s）"), checkup.OneLine(l.Reason, 64))
	}
	if l.Step > 0 && l.State == string(journal.FateMerged) {
		state += fmt.Sprintf(a.Text(" from step %d of run %s", "，自运行 %[2]s 的第 %[1]d 步起可见"), l.Step, l.RunID)
	}
	if l.Settled != nil && l.Settled.Sub(l.Arrived) >= time.Second {
		state += fmt.Sprintf(a.Text(" after %s", "，用时 %s"), l.Settled.Sub(l.Arrived).Round(time.Second))
	}
	return fmt.Sprintf("%s  %-3s  %s  %s  %s\n", l.Arrived.Local().Format("2006-01-02 15:04:05"), stateWord(a, l.Dir), checkup.OneLine(l.Who, 64), state, checkup.OneLine(l.Text, 80))
}
