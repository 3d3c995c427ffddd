package files

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// reasonNoTranscript is the reason of an answer to a voice message whose transcription failed.
const reasonNoTranscript = "unheard"

// notTranscribed returns the facts that tell the sender of a voice message that its transcription failed, or nothing if this
// does not apply. If the turn consists only of the voice message and no other turn is open, the notice settles it and
// no model is asked. Otherwise the model also reads about the failure in the turn.
func (w *Files) notTranscribed(was, turn journal.Turn, alone bool) ([]journal.Fact, []journal.Row) {
	i := slices.IndexFunc(turn.Parts, func(p uimessage.Part) bool {
		f, ok := platform.FileOf(p)
		return ok && f.NoTranscript != ""
	})
	if i < 0 {
		return nil, nil
	}
	f, _ := platform.FileOf(turn.Parts[i])
	say := w.Text(notices.NoTranscript(f.NoTranscript), turn)
	if !alone || w.State.Run != nil || saysMore(was, turn) {
		rows := w.HostRow(messages.AcceptIngress{IngressID: "voice:" + turn.ID, RequestID: turn.Meta.RequestID}, turn, say)
		var facts []journal.Fact
		for _, row := range rows {
			facts = append(facts, journal.EgressQueued{Row: row})
		}
		return facts, rows
	}
	fate := journal.Settled{TurnID: turn.ID, Fate: journal.FateAnswered, Reason: reasonNoTranscript}
	meta, runID := w.PlainMeta(), "r_"+w.NewID()
	meta.RequestID, meta.RunID, meta.Result, meta.Reason, meta.Model, meta.Demo = turn.Meta.RequestID, runID, string(journal.ResultDone), reasonNoTranscript, "", false
	meta.Fates = []uimessage.FateRecord{{ID: turn.ID, Fate: fate.Fate, Reason: fate.Reason, RunID: runID}}
	answer := uimessage.Message{
		ID: "a:" + string(w.Key) + ":" + w.NewID(), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: say}}, Metadata: meta.Append(nil),
	}
	fate.RunID = runID
	fact := journal.RunFinished{RunID: runID, Message: answer, Result: journal.ResultDone, Reason: reasonNoTranscript, Fates: []journal.Settled{fate}}
	if w.Via.Outbox {
		fact.Rows = []journal.Row{{
			Key: journal.RowKey{MessageID: answer.ID, N: 1}, RunID: runID, RequestID: turn.Meta.RequestID, Text: say, ReplyTo: w.ReplyTo(turn),
		}}
	}
	w.Audit(decision.AuditEntry{Event: "ingress", RequestID: turn.Meta.RequestID, Result: string(journal.FateAnswered), Reason: reasonNoTranscript})
	return []journal.Fact{fact}, fact.Rows
}

// saysMore reports whether a turn contains more than the voice message. Texts are looked up in the turn as it arrived,
// because fetching its files adds words of the host.
func saysMore(was, turn journal.Turn) bool {
	for i, p := range was.Parts {
		if t, ok := p.(uimessage.Text); ok && strings.TrimSpace(t.Text) != "" && !isPlaceholder(was.Parts, i) {
			return true
		}
	}
	return slices.ContainsFunc(turn.Parts, func(p uimessage.Part) bool {
		switch p.(type) {
		case uimessage.Text:
			return false
		case uimessage.Data:
			f, ok := platform.FileOf(p)
			return ok && f.NoTranscript == ""
		default:
			return true
		}
	})
}

// Same reports whether two versions of a message have the same words and files. What it replies to does not count.
func Same(a, b []uimessage.Part) bool { return slices.Equal(contentOf(a), contentOf(b)) }

func contentOf(parts []uimessage.Part) (out []string) {
	for i, p := range parts {
		f, isFile := platform.FileOf(p)
		t, isText := p.(uimessage.Text)
		switch {
		case isFile && !f.Answered:
			out = append(out, f.Unique)
		case isText && !isPlaceholder(parts, i):
			out = append(out, t.Text)
		}
	}
	return out
}

// isPlaceholder reports whether a text is the placeholder of a file, which platforms put in brackets directly before
// the file's part. A caption may be in brackets too, but not in that position.
func isPlaceholder(parts []uimessage.Part, i int) bool {
	if i+1 == len(parts) {
		return false
	}
	t, _ := parts[i].(uimessage.Text)
	_, file := platform.FileOf(parts[i+1])
	return file && strings.HasPrefix(t.Text, "[") && strings.HasSuffix(t.Text, "]")
}
