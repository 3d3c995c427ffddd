package journal

import (
	"cmp"
	"slices"
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
	// DefaultSearchText is how many characters of a context its index entry keeps.
	DefaultSearchText = 12000

	contextTitle   = 120
	contextPreview = 240
)

// Context is a working context that a chat left, whole. It is written once, by the
// [Rewrite] that takes its turns out of the history.
type Context struct {
	Version   int    `json:"v"`
	ID        string `json:"contextId"`
	Status    string `json:"status"`
	Title     string `json:"title"`
	Reason    string `json:"reason,omitempty"` // why the chat left it, in the words of whoever did
	CreatedAt int64  `json:"createdAt"`        // of the first turn, unix milliseconds
	UpdatedAt int64  `json:"updatedAt"`        // of the last turn
	// ArchivedAt and ArchiveReason say when it was left and by what order.
	ArchivedAt    int64  `json:"archivedAt"`
	ArchiveReason string `json:"archiveReason"`
	// Checkpoint is the last assistant turn; empty: there is none.
	Checkpoint string              `json:"checkpoint"`
	Summary    string              `json:"summary,omitempty"`
	Messages   []uimessage.Message `json:"messages"`
}

// ContextItem is a context in the index of its chat.
type ContextItem struct {
	ID             string `json:"contextId"`
	Title          string `json:"title"`
	CreatedAt      int64  `json:"createdAt"`
	ArchivedAt     int64  `json:"archivedAt"`
	MessageCount   int    `json:"messageCount"`
	SummaryPreview string `json:"summaryPreview"`
	SearchText     string `json:"searchText"`
}

// ContextIndex is the file of the index. It can be made again from the contexts.
type ContextIndex struct {
	Version int           `json:"v"`
	Items   []ContextItem `json:"items"`
}

// NewContext is the context that turns make when a chat leaves them by an order.
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
	if c.Title == "" { // nobody else has said anything
		c.Title = c.preview()
	}
	c.Title = Clip(oneLine(c.Title), contextTitle)
	return c
}

// Item is the entry of the context in its index, with at most that many characters
// of what was said: of its beginning and of its end if all is longer.
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

// preview is the summary, or what was said last by the assistant.
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

// Clip is a text of at most n characters; a longer one ends in an ellipsis.
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// ends is a text of at most n characters: its two ends if all is longer.
func ends(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	head := n / 2
	return string(runes[:head]) + string(runes[len(runes)-(n-head):])
}

// SortContexts puts the newest first.
func SortContexts(items []ContextItem) {
	slices.SortFunc(items, func(a, b ContextItem) int {
		return cmp.Or(cmp.Compare(b.ArchivedAt, a.ArchivedAt), cmp.Compare(b.ID, a.ID))
	})
}
