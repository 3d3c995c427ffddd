// Package system builds the text that a chat's requests to the model begin with.
package system

import (
	"log/slog"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/pins"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// System builds the system texts of a chat. They depend only on the documents, never on the time or the turn, so that
// the requests of a chat share a prefix. Documents are read once, when a run begins.
type System struct {
	*decision.Base
	Begins Fingerprints
	last   string // of the last request; empty before the first
	// facts and docs are the parts of the text of the run in progress, and pinned are the skills in it.
	facts  prompt.Facts
	docs   prompt.Documents
	pinned []string
}

// Left returns the system of a chat that will be loaded again. It still knows what requests began with.
func (y System) Left() System { return System{Begins: y.Begins} }

// Begin returns the system text of a run that begins now, and the tools that the loaded skills allow; nil allows all.
func (y *System) Begin() (text string, only []string) {
	y.facts, y.docs, only = y.documents()
	y.pinned, y.last = y.State.Pinned, prompt.System(y.facts, y.docs)
	return y.last, only
}

// Offers notes the tools that a run offers: requests begin with them.
func (y *System) Offers(names []string) []string {
	y.began(&y.Begins.tools, "tools", names...)
	return names
}

// Reloaded returns the run's new system text and tools if the loaded skills have changed since the last step, or if
// another person's message has joined the run, who must not learn what is remembered of the first one. Otherwise it
// returns empty. All else is as it was when the run began.
func (y *System) Reloaded() (text string, only []string) {
	if joined := y.docs.UserMemory != "" && !y.OnePerson(y.Asker().ID); joined {
		y.docs.UserMemory = ""
	} else if slices.Equal(y.pinned, y.State.Pinned) {
		return "", nil
	}
	set := y.skills(y.Documents(y.Key))
	y.pinned, y.docs.Skills, y.docs.Loaded = y.State.Pinned, set.Overview, set.Loaded
	y.last = prompt.System(y.facts, y.docs)
	return y.last, set.Only
}

// Text returns the system text that a run would begin with.
func (y *System) Text() string {
	facts, docs, _ := y.documents()
	return prompt.System(facts, docs)
}

// Last returns the system text of the last request.
func (y *System) Last() string {
	if y.last == "" {
		return y.Text()
	}
	return y.last
}

// documents returns the parts of the system text and the tools that the loaded skills allow; nil allows all.
func (y *System) documents() (prompt.Facts, prompt.Documents, []string) {
	d := y.Documents(y.Key)
	facts := prompt.Facts{
		Project: y.Project, ChatKey: string(y.Key), ChatType: y.ChatType, ChatTitle: y.Title,
		Group: y.Group(), TimeZone: y.Location.String(), Egress: prompt.EgressDirect, Markdown: true,
	}
	if y.Via.ToolEgress {
		facts.Egress = prompt.EgressTool
	}
	known, said := memories.SplitStatements(d.ChatMemory)
	if y.MemoryGroups == decision.MemoryOff {
		said = ""
	}
	docs := prompt.Documents{
		ProfilePrimary: d.Primary, ProfileOther: d.Other, ChatMemory: known, ChatStatements: said, ProjectMemory: d.ProjectMemory, Agent: d.Agent,
	}
	if asker := y.Asker(); d.UserMemory != nil && y.OnePerson(asker.ID) {
		docs.UserMemory = d.UserMemory(asker.Platform + "-" + asker.ID)
	}
	y.began(&y.Begins.agent, "agent", docs.Agent)
	y.began(&y.Begins.chat, "chat", facts.ChatType, facts.ChatTitle)
	y.began(&y.Begins.profile, "profile", docs.ProfilePrimary, docs.ProfileOther)
	y.began(&y.Begins.memories, "memory", docs.ChatMemory, docs.ChatStatements, docs.ProjectMemory, docs.UserMemory)
	set := y.skills(d)
	docs.Skills, docs.Loaded = set.Overview, set.Loaded
	return facts, docs, set.Only
}

// skills returns the skills of the chat, and notes whether they have changed since the last request.
func (y *System) skills(d decision.Documents) pins.Set {
	set := pins.Of(y.State.Pins(), d.Skills, d.Skill)
	y.began(&y.Begins.skills, "skill", set.Texts()...)
	return set
}

// Needed returns the pinned skills that the given messages still mention.
func (y *System) Needed(groups ...[]uimessage.Message) []string {
	out := pins.Needed(y.State.Pinned, groups...)
	if gone := len(y.State.Pinned) - len(out); gone > 0 {
		y.Log(slog.LevelInfo, "skills that the conversation no longer speaks of were put away", "skills", gone)
	}
	return out
}

// fingerprint detects changes of texts without keeping the texts. The zero value has seen none.
type fingerprint uint64

// changed reports whether the texts differ from the last call. The first call reports false.
func (f *fingerprint) changed(texts ...string) bool {
	var h xxhash.Digest
	h.Reset()
	for _, text := range texts {
		_, _ = h.WriteString(text) // never fails
		_, _ = h.Write([]byte{0})  // never fails
	}
	before := *f
	*f = fingerprint(max(h.Sum64(), 1))
	return before != 0 && *f != before
}

// Fingerprints cover the texts that a chat's requests begin with.
type Fingerprints struct{ agent, profile, chat, skills, memories, tools fingerprint }

// began reports a broken prefix if the texts at the beginning of a request differ from the previous request.
func (y *System) began(f *fingerprint, cause string, texts ...string) {
	if f.changed(texts...) {
		y.PrefixBroken(cause)
	}
}
