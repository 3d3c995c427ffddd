package contexts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

const (
	defaultLimit = 20
	// recentTurns is how many turns the mode recent returns.
	recentTurns = 20
	// opening is the first line of every recalled context.
	opening = "以下是历史归档 context（仅供参考，可能与当前问题不一致）"
)

// list is chat_context_list.
type list struct {
	tool.Described
	Options
}

func (t *list) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in := struct {
		Limit int `json:"limit"`
	}{defaultLimit}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	items, err := t.Store.Contexts(ctx, call.Run.ChatKey)
	if err != nil {
		return tool.Result{}, fmt.Errorf("list the contexts: %w", err)
	}
	out := struct {
		Total    int     `json:"total"`
		Contexts []entry `json:"contexts"`
	}{len(items), t.entries(items[:min(in.Limit, len(items))])}
	return tool.Answer(out, fmt.Sprintf("%d contexts", len(items)))
}

// recall is chat_context_recall.
type recall struct {
	tool.Described
	Options
}

func (t *recall) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in := struct {
		ContextID string `json:"contextId"`
		Mode      string `json:"mode"`
	}{Mode: "summary"}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	c, err := t.Store.ReadContext(ctx, call.Run.ChatKey, in.ContextID)
	if errors.Is(err, persistence.ErrNotFound) {
		return tool.Result{}, errNone
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("read the context: %w", err)
	}
	return tool.Answer(t.recalled(c, in.Mode), "recalled "+c.ID)
}

// recalled is the text for the model, in the requested mode.
func (t *recall) recalled(c journal.Context, mode string) string {
	out := []string{opening, fmt.Sprintf("%s · %s · %s – %s", c.ID, c.Title, t.time(c.CreatedAt), t.time(c.ArchivedAt))}
	turns := c.Messages
	switch {
	case mode == "summary" && c.Summary != "":
		turns = nil
		out = append(out, c.Summary)
	case mode == "summary":
		turns = nil
		out = append(out, c.Item(0).SummaryPreview)
	case mode == "recent":
		turns = turns[max(0, len(turns)-recentTurns):]
	}
	for _, m := range turns {
		if said := said(m); said != "" {
			out = append(out, said)
		}
	}
	return strings.Join(out, "\n\n")
}

// indented is a text whose further lines cannot pass for those of another speaker.
func indented(text string) string {
	const end = "\n  "
	return strings.NewReplacer("\r\n", end, "\n", end, "\r", end, "\v", end, "\f", end, "\u0085", end, "\u2028", end, "\u2029", end).Replace(text)
}

// said is the text of a turn with its author, including messages sent by tools.
func said(m uimessage.Message) string {
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // other programs' metadata has no name
	who := "assistant"
	if m.Role == uimessage.RoleUser {
		if who = memories.FactText(meta.Username); who == "" {
			who = "user"
		}
		if meta.UserID != "" {
			who += " (" + memories.FactText(meta.UserID) + ")"
		}
	}
	words := []string{}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			words = append(words, p.Text)
		case uimessage.Tool:
			if sent, ok := journal.SentWords(p); ok {
				words = append(words, sent)
			} else {
				words = append(words, fmt.Sprintf("[%s %s]", p.Name, p.Input))
			}
		default: // files and reasoning are left out
		}
	}
	if text := strings.TrimSpace(strings.Join(words, "\n")); text != "" {
		return who + ": " + indented(text)
	}
	return ""
}
