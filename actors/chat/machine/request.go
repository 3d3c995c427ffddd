package machine

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// system returns the system text of a run. It depends only on the documents, never on the time or the turn, so that
// the requests of a chat share a prefix.
func (c *Chat) system() string {
	facts, docs, _ := c.documents()
	return prompt.System(facts, docs)
}

// systemSoFar returns the system text of the last request. Documents are read once, when a run begins.
func (c *Chat) systemSoFar() string {
	if c.lastSystem == "" {
		return c.system()
	}
	return c.lastSystem
}

// documents returns the parts of the system text and the tools that the loaded skills allow; nil allows all.
func (c *Chat) documents() (prompt.Facts, prompt.Documents, []string) {
	d := c.Documents(c.key)
	facts := prompt.Facts{
		Project: c.Project, ChatKey: string(c.key), ChatType: c.chatType, ChatTitle: c.title,
		Group: c.group(), TimeZone: c.Location.String(), Egress: prompt.EgressDirect, Markdown: true,
		Channel: c.addr.Platform, ChatID: c.addr.Chat,
	}
	if c.via.ToolEgress {
		facts.Egress = prompt.EgressTool
	}
	known, said := memories.SplitStatements(d.ChatMemory)
	if c.MemoryGroups == MemoryOff {
		said = ""
	}
	docs := prompt.Documents{
		ProfilePrimary: d.Primary, ProfileOther: d.Other, ChatMemory: known, ChatStatements: said, ProjectMemory: d.ProjectMemory, Agent: d.Agent,
	}
	if asker := c.asker(); d.UserMemory != nil && c.onePerson(asker.ID) {
		docs.UserMemory = d.UserMemory(asker.Platform + "-" + asker.ID)
	}
	c.began(&c.begins.agent, "agent", docs.Agent)
	c.began(&c.begins.profile, "profile", docs.ProfilePrimary, docs.ProfileOther)
	c.began(&c.begins.memories, "memory", docs.ChatMemory, docs.ChatStatements, docs.ProjectMemory, docs.UserMemory)
	s := c.skills(d)
	docs.Skills, docs.Loaded = s.Overview, s.Loaded
	return facts, docs, s.Only
}

// group reports whether several people may write in the chat.
func (c *Chat) group() bool {
	if c.chatType == "" {
		return strings.HasPrefix(c.addr.Chat, "-")
	}
	return messages.IsGroup(c.chatType)
}

// input returns what a step sees: the history followed by the message in progress.
func (c *Chat) input(step int) messages.StepInput {
	history := c.shown()
	if m := c.run.reducer.Snapshot(); len(m.Parts) > 0 {
		// A continued message is in the history in its old form: replace it.
		n, at := history.Len, history.At
		if n > 0 && at(n-1).ID == c.state.Run.MessageID {
			n--
		}
		history = prompt.History{Len: n + 1, At: func(i int) *uimessage.Message {
			if i == n {
				return &m
			}
			return at(i)
		}}
	}
	converted := prompt.MessagesOf(history, prompt.Options{ChatKey: c.key, Group: c.group(), Location: c.Location, ToolName: c.ToolName, Cache: c.cache})
	if n := c.cache.Aged(); n != c.picturesAged {
		if n > c.picturesAged {
			c.prefixBroken("aged_picture")
		}
		c.picturesAged = n
	}
	return messages.StepInput{Step: step, Messages: converted, LaneEmpty: len(c.state.Lane) == 0, Depth: c.state.Depth, MayBeSilent: c.mayBeSilent()}
}

// mayBeSilent reports whether the next step may say nothing: people have already read part of this answer, or the run
// answers only scheduled tasks.
func (c *Chat) mayBeSilent() bool {
	if strings.TrimSpace(journal.Text(c.own(c.run.reducer.Snapshot()))) != "" {
		return true
	}
	if len(c.run.lastSent) > 0 || c.state.Run.Spoke && c.gotThrough() {
		return true
	}
	visible := c.state.Run.Visible
	return len(visible) > 0 && !slices.ContainsFunc(visible, func(v journal.Visible) bool {
		t, ok := c.state.Turn(v.TurnID)
		return !ok || t.Meta.Source != uimessage.SourceTask
	})
}

// settled returns the history without the old form of the message that the run continues.
func (c *Chat) settled(history []uimessage.Message) []uimessage.Message {
	if n := len(history); n > 0 && history[n-1].ID == c.state.Run.MessageID {
		return history[:n-1]
	}
	return history
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

// fingerprints cover the texts that a chat's requests begin with.
type fingerprints struct{ agent, profile, skills, memories fingerprint }

// began reports a broken prefix if the texts at the beginning of a request differ from the previous request.
func (c *Chat) began(f *fingerprint, cause string, texts ...string) {
	if f.changed(texts...) {
		c.prefixBroken(cause)
	}
}
