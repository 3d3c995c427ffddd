// Package runentry makes the entry that the run log keeps for a run: what was asked, done and said, each cut to a
// length that does not depend on the run. It is pure.
package runentry

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// Limits of the entry that the run log keeps for a run.
const (
	entryWords = 300 // characters of the request and of the answer
	entryInput = 120 // characters of a call's input and of an error
	entryCalls = 12
	entryTurns = 64 // turns of the history that are searched
)

// Of returns the entry of a finished run of a chat with this history.
func Of(history []journal.Turn, run *journal.Run, result journal.Result, reason string, at time.Time) runlog.Entry {
	entry := runlog.Entry{Kind: runlog.KindRun, TS: at.UnixMilli(), RunID: run.ID, Result: result}
	if reason != "" && result != journal.ResultDone {
		entry.Failures = append(entry.Failures, beginning(string(result)+": "+reason, entryInput))
	}
	var asked, said []string
	for _, t := range turnsOf(history, run) {
		if t.Role == uimessage.RoleUser {
			asked = append(asked, journal.Text(t.Message))
			continue
		}
		parts := t.Parts
		if t.ID == run.MessageID {
			parts = parts[min(run.Base, len(parts)):]
		}
		said = append(said, addParts(&entry, parts)...)
	}
	entry.Request, entry.Answer = beginning(strings.Join(asked, " / "), entryWords), beginning(strings.Join(said, " / "), entryWords)
	return entry
}

// turnsOf returns, in order, the user turns that a run answered and the run's own messages. It searches only the last
// entryTurns turns of the history.
func turnsOf(history []journal.Turn, run *journal.Run) []journal.Turn {
	var turns []journal.Turn
	missing := cmp.Or(len(run.Visible), -1) // -1: the run saw no new turns because it continues an earlier message
	for i := len(history) - 1; i >= max(0, len(history)-entryTurns) && missing != 0; i-- {
		t := history[i]
		switch {
		case slices.ContainsFunc(run.Visible, func(v journal.Visible) bool { return v.TurnID == t.ID }):
			turns = append(turns, t)
			missing--
		case t.ID == run.MessageID, t.Role == uimessage.RoleAssistant && t.Meta.RunID == run.ID:
			turns = append(turns, t)
		}
	}
	slices.Reverse(turns)
	return turns
}

// addParts adds the tool calls of a message to the entry. It returns the words that were said, either as text or
// through a tool that sends words.
func addParts(entry *runlog.Entry, parts []uimessage.Part) (said []string) {
	for _, p := range parts {
		switch p := p.(type) {
		case uimessage.Text:
			said = append(said, p.Text)
		case uimessage.Tool:
			call := runlog.Call{Name: p.Name}
			if words, ok := journal.SentWords(p); ok {
				said = append(said, words)
			} else {
				call.Input = beginning(string(p.Input), entryInput)
			}
			switch p.State {
			case uimessage.ToolOutputError:
				call.Error = beginning(p.ErrorText.Or("failed"), entryInput)
			case uimessage.ToolOutputDenied:
				call.Error = "denied"
			default:
			}
			if len(entry.Calls) == entryCalls {
				entry.More++
				continue
			}
			entry.Calls = append(entry.Calls, call)
			if call.Error != "" {
				entry.Failures = append(entry.Failures, p.Name+": "+call.Error)
			}
		default:
		}
	}
	return said
}

// beginning returns the first n characters of a text as one line, with an ellipsis if the text is longer. The work
// does not grow with the length of the text.
func beginning(text string, n int) string {
	var b strings.Builder
	blank, count := false, 0
	for i, r := range text {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			blank = b.Len() > 0
			if i > 16*n {
				break
			}
			continue
		}
		if count >= n {
			b.WriteString("…")
			break
		}
		if blank {
			b.WriteByte(' ')
			count++
		}
		b.WriteRune(r)
		blank = false
		count++
	}
	return b.String()
}
