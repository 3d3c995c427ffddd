// Package memory decides when facts are extracted from a chat's history, which a child actor does.
package memory

import (
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Memory extracts facts about people from the history, which a child does.
type Memory struct {
	*decision.Base
	child string // the name of the child in progress; empty if there is none
	id    string
	// last is the newest turn at the last extraction, and wait is how many turns must follow it before the next one.
	last string
	wait int
	// compaction is the last compaction that began, and frozen are its turns until they are extracted.
	compaction string
	frozen     []messages.CompactTurn
	seen       int // length of the history at the last check
}

// Left returns the memory of a chat that will be loaded again. It still knows what the last extraction read, unless one
// was in progress.
func (m Memory) Left() Memory {
	if m.Busy() || m.frozen != nil {
		return Memory{}
	}
	return m
}

// Remember starts an extraction when enough turns have arrived or when a compaction has made a summary, which does not
// wait for it. The compaction in progress is given by its id, which is empty if there is none; turns returns the history.
func (m *Memory) Remember(compaction string, turns func() []messages.CompactTurn) {
	if !m.Remembers || m.Closing {
		return
	}
	if m.MemoryGroups != "" && m.MemoryGroups != decision.MemoryAuto && m.several() {
		return
	}
	if compaction != "" && compaction != m.compaction {
		m.compaction, m.frozen = compaction, turns()
	}
	switch {
	case m.child != "", m.frozen != nil && compaction == m.compaction:
	case m.frozen != nil:
		frozen := m.frozen
		m.frozen = nil
		m.extract(frozen, true)
	case len(m.State.History) != m.seen:
		m.seen = len(m.State.History)
		if m.unread() >= max(m.wait, 1) {
			m.extract(turns(), false)
		}
	}
}

// NotCompacted handles a compaction that replaced no turns, so that none need to be extracted for it.
func (m *Memory) NotCompacted() { m.frozen = nil }

// unread counts the turns since the last extraction, at most MemoryTurns.
func (m *Memory) unread() int {
	n := 0
	for _, t := range slices.Backward(m.State.History) {
		if t.ID == m.last || n >= m.MemoryTurns {
			return n
		}
		n++
	}
	if m.last == "" && n < m.MemoryTurns {
		return 0 // too little for a first extraction
	}
	return n
}

func (m *Memory) extract(turns []messages.CompactTurn, compacts bool) {
	msg := messages.ExtractMemory{
		ChatKey: m.Key, ExtractionID: "m_" + m.NewID(), RequestID: "m_" + m.NewID(), Turns: turns, Compacts: compacts,
		Guidance: decision.MemorySection(m.Documents(m.Key).Agent), Group: m.several(),
	}
	m.child, m.id = "memory-"+msg.ExtractionID, msg.ExtractionID
	m.waitForTurns(m.MemoryTurns)
	m.Effect(decision.Start{Child: decision.MemoryChild, Name: m.child, Msg: msg})
}

// waitForTurns records that the next extraction needs the given number of new turns.
func (m *Memory) waitForTurns(wait int) {
	m.wait = wait
	if n := len(m.State.History); n > 0 {
		m.last = m.State.History[n-1].ID
	}
}

// OnExtracted handles the result of the child. The facts are already durable.
func (m *Memory) OnExtracted(msg messages.MemoryExtracted) {
	if m.child == "" || m.child != m.In.Child || m.id != msg.ExtractionID {
		return
	}
	m.Effect(decision.Stop{Name: m.child})
	m.child = ""
	m.countExtraction(msg)
	if msg.Result != messages.ResultFailed {
		m.wait = max(m.MemoryTurns-msg.Left, 1)
	}
	if msg.Facts > 0 || msg.Dropped > 0 || msg.Condensed != "" {
		m.Log(slog.LevelInfo, "facts of the chat were remembered", "facts", msg.Facts, "dropped", msg.Dropped, "condensed", msg.Condensed)
	}
}

// countExtraction reports an extraction to the metrics.
func (m *Memory) countExtraction(msg messages.MemoryExtracted) {
	m.Count(decision.CountExtraction, msg.Result)
	m.Measure(decision.CountFacts, float64(msg.Facts))
	m.Measure(decision.CountFactsDropped, float64(msg.Dropped))
}

// Gone handles a child that ended without a result.
func (m *Memory) Gone(child string) {
	if m.child != "" && m.child == child {
		m.child = ""
		m.countExtraction(messages.MemoryExtracted{Result: messages.ResultFailed})
	}
}

// Busy reports whether an extraction is in progress.
func (m *Memory) Busy() bool { return m.child != "" }

// Drop stops the child. A later extraction reads the same turns.
func (m *Memory) Drop() {
	if m.child != "" {
		m.Effect(decision.Stop{Name: m.child})
	}
	*m = Memory{Base: m.Base}
}

// several reports whether more than one person writes, or may write, in the chat.
func (m *Memory) several() bool {
	if m.Group() {
		return true
	}
	return m.AuthorOf(m.State.History) == decision.Several
}
