package journal

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// ContextVersion is the version of contexts and of their index.
	ContextVersion = 1
	// ContextArchived is the status of a context in the archive.
	ContextArchived = "archived"
	// DefaultSearchText is how many characters of a context are kept in the index for searching.
	DefaultSearchText = 12000

	contextTitle   = 120
	contextPreview = 240
)

// Context is a complete working context that a chat left. It is written once, by the [Rewrite] that removes its turns
// from the history.
type Context struct {
	Version   int    `json:"v"`
	ID        string `json:"contextId"`
	Status    string `json:"status"`
	Title     string `json:"title"`
	Reason    string `json:"reason,omitempty"` // why the chat left it, in the words of the model or person
	CreatedAt int64  `json:"createdAt"`        // of the first turn, unix milliseconds
	UpdatedAt int64  `json:"updatedAt"`        // of the last turn
	// ArchivedAt and ArchiveReason tell when the chat left it and with which kind of command.
	ArchivedAt    int64  `json:"archivedAt"`
	ArchiveReason string `json:"archiveReason"`
	// Checkpoint is the id of the last assistant turn, or empty.
	Checkpoint string              `json:"checkpoint"`
	Summary    string              `json:"summary,omitempty"`
	Messages   []uimessage.Message `json:"messages"`
}

// ContextItem is a context's entry in the index of its chat.
type ContextItem struct {
	ID             string `json:"contextId"`
	Title          string `json:"title"`
	CreatedAt      int64  `json:"createdAt"`
	ArchivedAt     int64  `json:"archivedAt"`
	MessageCount   int    `json:"messageCount"`
	SummaryPreview string `json:"summaryPreview"`
	SearchText     string `json:"searchText"`
}

// ContextIndex is the index file. It can be rebuilt from the contexts.
type ContextIndex struct {
	Version int           `json:"v"`
	Items   []ContextItem `json:"items"`
}

// NewContext builds the context of turns that a chat leaves.
func NewContext(order messages.ContextSwitch, at int64, turns []Turn) Context {
	c := Context{
		Version: ContextVersion, ID: order.ID, Status: ContextArchived, Title: order.Title, Reason: order.Reason,
		CreatedAt: at, UpdatedAt: at, ArchivedAt: at, ArchiveReason: order.Kind, Messages: []uimessage.Message{},
	}
	for i, t := range turns {
		c.Messages = append(c.Messages, t.Message)
		if i == 0 && t.Meta.TS > 0 {
			c.CreatedAt = t.Meta.TS
		}
		if t.Meta.TS > 0 {
			c.UpdatedAt = t.Meta.TS
		}
		if t.Role == uimessage.RoleAssistant {
			c.Checkpoint = t.ID
		}
		if t.Meta.Kind == uimessage.KindSummary {
			c.Summary = Text(t.Message)
		}
		if c.Title == "" && t.Role == uimessage.RoleUser {
			c.Title = Text(t.Message)
		}
	}
	if c.Title == "" { // no user has written anything
		c.Title = c.preview()
	}
	c.Title = Clip(oneLine(c.Title), contextTitle)
	return c
}

// Item returns the index entry of the context, with at most searchText characters of what was said. Of a longer text
// it keeps the beginning and the end.
func (c Context) Item(searchText int) ContextItem {
	item := ContextItem{
		ID: c.ID, Title: c.Title, CreatedAt: c.CreatedAt, ArchivedAt: c.ArchivedAt, MessageCount: len(c.Messages),
		SummaryPreview: Clip(oneLine(c.preview()), contextPreview),
	}
	var words []string
	for _, m := range c.Messages {
		if said := Words(m); said != "" {
			words = append(words, said)
		}
	}
	item.SearchText = ends(strings.Join(words, "\n"), searchText)
	return item
}

// preview returns the summary, or else the last words of the assistant.
func (c Context) preview() string {
	if c.Summary != "" {
		return c.Summary
	}
	for _, m := range slices.Backward(c.Messages) {
		if said := Words(m); said != "" && m.Role == uimessage.RoleAssistant {
			return said
		}
	}
	return ""
}

// Clip returns a text of at most n characters. A longer text is cut and ends with an ellipsis.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// ends returns a text of at most n characters. Of a longer text it keeps the beginning and the end.
func ends(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	head := n / 2
	return string(runes[:head]) + string(runes[len(runes)-(n-head):])
}

// SortContexts sorts contexts, newest first.
func SortContexts(items []ContextItem) {
	sort.SliceStable(items, func(i, j int) bool {
		a, b := &items[i], &items[j]
		return cmp.Or(cmp.Compare(b.ArchivedAt, a.ArchivedAt), cmp.Compare(b.ID, a.ID)) < 0
	})
}
