package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// result returns the result of a scenario, in the form of its wanted parts. It also checks the promises that every
// scenario must keep.
func (s *scenario) result() map[string]string {
	s.t.Helper()
	out := map[string]*strings.Builder{"history": {}, "sent": {}, "counts": {}}
	views := map[messages.ChatKey]platform.ChatView{}
	for _, key := range s.keys {
		if len(s.keys) > 1 {
			for _, b := range out {
				fmt.Fprintf(b, "%s:\n", key)
			}
		}
		v := s.w.View(key)
		views[key] = v
		history(out["history"], v)
		sent(out["sent"], s.w.Platform.Sent(), key)
		counts(out["counts"], v.Counts)
		s.conserved(key, v)
		s.once(key)
	}
	got := map[string]string{"requests": s.requests()}
	for name, b := range out {
		got[name] = b.String()
	}
	s.drainFrames()
	got["frames"] = s.frames.String()
	if faults := s.model.Faults(); len(faults) > 0 {
		s.t.Errorf("requests no strict provider takes, or beyond the script: %v", faults)
	}
	if s.sums != nil && (s.sums.Left() > 0 || len(s.sums.Faults()) > 0) {
		s.t.Errorf("%d summaries were not asked for; faults %v", s.sums.Left(), s.sums.Faults())
	}
	if s.notes != nil && (s.notes.Left() > 0 || len(s.notes.Faults()) > 0) {
		s.t.Errorf("%d answers with facts were not asked for; faults %v", s.notes.Left(), s.notes.Faults())
	}
	if n := s.model.Left(); n > 0 {
		s.t.Errorf("%d steps of the model were not asked for", n)
	}
	got["counts"] += s.sameAfterCrash(views)
	return got
}

// conserved checks that accepted equals the sum of the fates and of the open turns (P1).
func (s *scenario) conserved(key messages.ChatKey, v platform.ChatView) {
	s.t.Helper()
	sum := v.Counts.Open
	for _, n := range v.Counts.Fates {
		sum += n
	}
	if sum != v.Counts.Accepted {
		s.t.Errorf("%s: accepted %d, fates and open make %d: %+v", key, v.Counts.Accepted, sum, v.Counts)
	}
	if !v.Running && v.Counts.Open > 0 {
		s.t.Errorf("%s: idle with %d open turns", key, v.Counts.Open)
	}
}

// once checks that no text appears twice, unless the scenario says why (P2).
func (s *scenario) once(key messages.ChatKey) {
	s.t.Helper()
	seen := map[string]bool{}
	for _, text := range s.w.Platform.Texts(key) {
		if seen[text] && s.twice == "" {
			s.t.Errorf("%s: %q stands twice", key, text)
		}
		if seen[text] {
			s.repeated = append(s.repeated, text)
		}
		seen[text] = true
	}
}

// sameAfterCrash checks that the disk restores the chat that was in memory. It returns how often the ledger says that
// something may have been sent twice.
func (s *scenario) sameAfterCrash(views map[messages.ChatKey]platform.ChatView) string {
	s.t.Helper()
	s.w.Kill()
	s.store.revive()
	s.store.set(func(f *faulty) { f.faults = nil })
	for key, v := range views {
		c, err := s.store.OpenChat(s.t.Context(), key)
		if err != nil {
			s.t.Error(err)
			continue
		}
		snap, err := c.Load(s.t.Context())
		if err != nil {
			s.t.Error(err)
			continue
		}
		state, err := journal.Replay(snap)
		if err != nil {
			s.t.Error(err)
			continue
		}
		marked := len(s.marked) // the newest entry is first
		for e, err := range c.Ledger(s.t.Context()) {
			if err != nil {
				s.t.Error(err)
			}
			if e.Maybe {
				s.marked = slices.Insert(s.marked, marked, e.Text)
			}
		}
		_ = c.Close() // only read
		if len(snap.Damage) > 0 {
			s.t.Errorf("%s: damage %v", key, snap.Damage)
		}
		if !v.Running {
			if diff := cmp.Diff(encodeAll(v.Messages), encodeAll(decision.ContentsOf(state.History))); diff != "" {
				s.t.Errorf("%s: history (-in memory +on disk):\n%s", key, diff)
			}
		}
		fates := map[string]int64{}
		for fate, n := range state.Counts().Fates {
			fates[string(fate)] = n
		}
		if diff := cmp.Diff(v.Counts.Fates, fates); diff != "" || state.Seq != v.Counts.Accepted {
			s.t.Errorf("%s: accepted %d, on disk %d; fates (-in memory +on disk):\n%s", key, v.Counts.Accepted, state.Seq, diff)
		}
	}
	if len(s.marked) == 0 {
		return ""
	}
	return fmt.Sprintf("perhaps sent twice %d\n", len(s.marked))
}

func encodeAll(list []uimessage.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, string(uimessage.AppendJSON(nil, m)))
	}
	return out
}

// history writes one line per message.
func history(b *strings.Builder, v platform.ChatView) {
	number := map[string]string{}
	for i, m := range v.Messages {
		meta := journal.NewTurn(m).Meta
		fmt.Fprintf(b, "%d ", i+1)
		if m.Role == uimessage.RoleUser {
			number[m.ID] = meta.MessageID
			fmt.Fprintf(b, "%s #%s%s", meta.Username, meta.MessageID, parts(m))
			if meta.EditOf != "" {
				b.WriteString(" (an edit)")
			}
			b.WriteByte('\n')
			continue
		}
		fmt.Fprintf(b, "bot%s", parts(m))
		if meta.Result != "" {
			fmt.Fprintf(b, " = %s", meta.Result)
		}
		if meta.Reason != "" {
			fmt.Fprintf(b, " (%s)", meta.Reason)
		}
		for _, f := range meta.Fates {
			fmt.Fprintf(b, "; #%s %s", number[f.ID], f.Fate)
			if f.Step > 0 {
				fmt.Fprintf(b, " at step %d", f.Step)
			}
		}
		b.WriteByte('\n')
	}
	for _, m := range v.Waiting {
		meta := journal.NewTurn(m).Meta
		fmt.Fprintf(b, "waiting: %s #%s%s\n", meta.Username, meta.MessageID, parts(m))
	}
	if v.Running {
		b.WriteString("running\n")
	}
}

func parts(m uimessage.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			b.WriteString(" " + short(p.Text))
		case uimessage.Reasoning:
			b.WriteString(" thinks " + short(p.Text))
		case uimessage.Tool:
			fmt.Fprintf(&b, " [%s %s%s", p.Name, p.ToolCallID, prefixed(" ", string(p.Input)))
			switch p.State {
			case uimessage.ToolOutputAvailable:
				fmt.Fprintf(&b, " -> %s]", p.Output)
			case uimessage.ToolOutputError:
				fmt.Fprintf(&b, " -> error %s]", short(p.ErrorText.Or("")))
			default:
				fmt.Fprintf(&b, " %s]", p.State)
			}
		case uimessage.StepStart:
		case uimessage.SourceURL, uimessage.SourceDocument, uimessage.File, uimessage.Data, uimessage.Unknown:
			b.WriteString(" " + p.Type())
		}
	}
	return b.String()
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// short quotes a text, and of a long one the beginning and the end.
func short(s string) string {
	if len(s) <= 160 {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q…%q (%d bytes)", s[:24], s[len(s)-24:], len(s))
}

// sent writes the messages on the platform.
func sent(b *strings.Builder, list []actortest.Sent, key messages.ChatKey) {
	for _, m := range list {
		if m.Chat != key {
			continue
		}
		b.WriteString(short(m.Text))
		if m.ReplyTo != "" {
			b.WriteString(" to #" + m.ReplyTo)
		}
		if m.Edits > 0 {
			b.WriteString(" edited")
		}
		b.WriteByte('\n')
	}
}

func counts(b *strings.Builder, c platform.Counts) {
	fmt.Fprintf(b, "accepted %d, open %d, unsent %d", c.Accepted, c.Open, c.Pending)
	for _, fate := range slices.Sorted(maps.Keys(c.Fates)) {
		fmt.Fprintf(b, ", %s %d", fate, c.Fates[fate])
	}
	b.WriteByte('\n')
}

// requests writes what each request adds to the previous one of its chat, and checks that it begins with the same bytes
// (P6).
func (s *scenario) requests() string {
	var b strings.Builder
	before, head := map[messages.ChatKey][][]byte{}, map[messages.ChatKey]string{}
	for i, req := range s.model.Requests() {
		key := s.chatOf(req)
		now, old := encodeRequest(req.Messages), before[key]
		extends := len(now) >= len(old)
		for j := range min(len(now), len(old)) {
			extends = extends && bytes.Equal(now[j], old[j])
		}
		tools, _ := json.Marshal(req.Tools) // plain members
		this := req.System + string(tools)
		if (!extends || head[key] != "" && this != head[key]) && s.broken == "" {
			s.t.Errorf("request %d does not extend the one before", i+1)
		}
		fmt.Fprintf(&b, "%d:", i+1)
		if len(s.keys) > 1 {
			b.WriteString(" " + string(key) + ":")
		}
		from := len(old)
		if !extends {
			b.WriteString(" anew:")
			from = 0
		}
		for _, m := range req.Messages[from:] {
			b.WriteString(modelLine(m))
		}
		if extends && from == len(now) {
			b.WriteString(" again")
		}
		b.WriteByte('\n')
		before[key], head[key] = now, this
	}
	return b.String()
}

// chatOf finds the chat of a request by its system text.
func (s *scenario) chatOf(req model.Request) messages.ChatKey {
	var found messages.ChatKey
	for _, key := range s.keys {
		if strings.Contains(req.System, string(key)) && len(key) > len(found) {
			found = key
		}
	}
	return found
}

func encodeRequest(list []modelmessage.Message) [][]byte {
	out := make([][]byte, len(list))
	for i, m := range list {
		out[i], _ = json.Marshal(m) // messages of our own encode
	}
	return out
}

// modelLine is a model message in short: without the times in headers.
func modelLine(m modelmessage.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, " | %s", m.Role)
	if m.Parts == nil {
		b.WriteString(" " + short(m.Text))
	}
	for i, p := range m.Parts {
		switch p := p.(type) {
		case modelmessage.Text:
			var h struct{ T, From, Msg string }
			if i == 0 && m.Role == modelmessage.RoleUser && json.Unmarshal([]byte(p.Text), &h) == nil && h.T != "" {
				b.WriteString(prefixed(" ", h.From) + " #" + h.Msg)
				continue
			}
			b.WriteString(" " + short(p.Text))
		case modelmessage.ToolCall:
			fmt.Fprintf(&b, " [%s %s %s]", p.ToolName, p.ToolCallID, p.Input)
		case modelmessage.ToolResult:
			fmt.Fprintf(&b, " [%s %s%s]", p.ToolCallID, p.Output.Type, prefixed(" ", p.Output.Text+string(p.Output.JSON)))
		case modelmessage.Reasoning, modelmessage.Image, modelmessage.File, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
			b.WriteString(" " + p.Type())
		}
	}
	return b.String()
}

// drainFrames returns the frames that watchers have received, without waiting for more.
func (s *scenario) drainFrames() {
	for i, frames := range s.watches {
		for open := true; open; {
			select {
			case f, ok := <-frames:
				if open = ok; ok {
					fmt.Fprintf(&s.frames, "%d %s\n", i+1, frameLine(f))
				} else {
					fmt.Fprintf(&s.frames, "%d closed\n", i+1)
				}
			default:
				open = false
			}
		}
	}
}

func frameLine(f platform.Frame) string {
	line := string(f.Kind)
	if f.Replay {
		line += " replayed"
	}
	for _, id := range f.Sees {
		line += " sees #" + id[strings.LastIndex(id, ":")+1:]
	}
	for _, c := range f.Chunks {
		line += " " + c.Type()
		if d, ok := c.(uistream.TextDelta); ok {
			line += " " + short(d.Delta)
		}
	}
	if f.Event.Name != "" {
		line += fmt.Sprintf(" %s at step %d%s", f.Event.Name, f.Event.Step, prefixed(": ", f.Event.Text))
	}
	if f.Last {
		line += " last, " + f.Result
	}
	for _, id := range f.Settled {
		line += " settles #" + id[strings.LastIndex(id, ":")+1:]
	}
	return line
}
