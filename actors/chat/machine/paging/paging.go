// Package paging splits long answers into pages, which people turn with words like "next", and answers the command
// output with the full output of a tool.
package paging

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/longtext"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	pagesFile = "pages.json"
	// wholeFile is the full text of a long answer, for people who want all of it.
	wholeFile = "full-output.md"
	// maxWhole is how many messages the rest of an answer may take. A longer rest is sent as a file.
	maxWhole = 16
)

// Paging splits long answers into pages, and sends the full outputs of tools. What it knows of the pages file is read
// again after a restart.
type Paging struct {
	*decision.Base
	read bool            // the pages file was read
	open *longtext.Pages // nil if there are none
}

// Reread makes the pages file be read again, because it may not have been written.
func (g *Paging) Reread() { g.read, g.open = false, nil }

func (g *Paging) canPage() bool {
	return g.Files != nil && !g.In.NoFiles && g.Via.Outbox && g.Via.MaxText > 0 && g.Via.Parts != nil
}

func (g *Paging) splitter() longtext.Splitter {
	return longtext.Splitter{MaxText: g.Via.MaxText, Parts: g.Via.Parts}
}

// openPages returns the pages that people can ask for. The file is read once for each activation.
func (g *Paging) openPages() *longtext.Pages {
	if g.read {
		return g.open
	}
	data, err := g.Files.ReadFile(context.Background(), g.Key, pagesFile)
	if err != nil {
		g.Log(slog.LevelWarn, "the pages of a long answer cannot be read", "error", err)
		return nil
	}
	g.read = true
	if g.open, err = longtext.ReadPages(data); err != nil {
		g.Log(slog.LevelWarn, "the pages of a long answer are damaged and not used", "error", err)
	}
	return g.open
}

// keepPages plans to write the pages file, or to clear it if p is nil.
func (g *Paging) keepPages(p *longtext.Pages) {
	g.File(pagesFile, p.Encode())
	g.read, g.open = true, p
}

// First returns the part of a text that is sent at once, and replaces the pages of the previous text. If files cannot
// be written, the whole text is sent.
func (g *Paging) First(key journal.RowKey, text string) string {
	if !g.canPage() || strings.TrimSpace(text) == "" {
		return text
	}
	s := g.splitter()
	if !s.Long(text) {
		if g.openPages() != nil {
			g.keepPages(nil)
		}
		return text
	}
	body, end := s.Page(text, 0, g.pageHint(text, 0))
	g.keepPages(&longtext.Pages{V: 1, Row: key, Text: text, At: end})
	return body + g.pageHint(text, end)
}

// pageHint tells people how to read on.
func (g *Paging) pageHint(text string, at int) string {
	return "\n\n" + g.Localized(notices.MorePages(at*100/max(len(text), 1)))
}

// Turn answers a person who asks for the next page. It returns false if the message is for the model.
func (g *Paging) Turn(msg messages.AcceptIngress, turn journal.Turn) bool {
	words, ok := decision.OnlyWords(msg)
	if !ok || msg.Verdict != messages.VerdictOpen || msg.Bot || msg.Forwarded || !g.canPage() {
		return false
	}
	want := longtext.PageRequestOf(words)
	if want == longtext.None {
		return false
	}
	p := g.openPages()
	if p == nil || !g.begun(p) {
		return false
	}
	from, more := p.Next(msg.IngressID)
	if !more {
		return false
	}
	row, end := g.nextPage(p, from, want)
	g.keepPages(p.Turned(msg.IngressID, from, end))
	g.SettleWith(msg, turn, journal.FateAnswered, "page", row)
	return true
}

// begun reports whether the first page is in the outbox or was sent. A crash can leave pages of a message that is
// generated again.
func (g *Paging) begun(p *longtext.Pages) bool {
	run := g.State.Run
	if run == nil || run.MessageID != p.Row.MessageID || g.State.Row(p.Row) != nil && !g.State.Row(p.Row).Open {
		return true
	}
	return slices.Contains(slices.Collect(maps.Values(run.Rows)), p.Row)
}

// nextPage returns the row for a page and the position where the next one begins.
func (g *Paging) nextPage(p *longtext.Pages, from int, want longtext.PageRequest) (row journal.Row, end int) {
	s := g.splitter()
	if want == longtext.Next {
		row.Text, end = s.Page(p.Text, from, g.pageHint(p.Text, from))
		if end < len(p.Text) {
			row.Text += g.pageHint(p.Text, end)
		}
		return row, end
	}
	row.Text = p.Rest(from)
	if !g.Via.Documents || longtext.Units(row.Text, maxWhole*g.Via.MaxText) <= maxWhole*g.Via.MaxText {
		return row, len(p.Text)
	}
	name := wholeFile
	for n := 2; g.inUse(name); n++ {
		name = fmt.Sprintf("full-output-%d.md", n)
	}
	file, err := g.Files.FilePath(g.Key, name)
	if err != nil {
		g.Log(slog.LevelWarn, "a long answer cannot be made a file; it is sent as text", "error", err)
		return row, len(p.Text)
	}
	g.File(name, []byte(p.Text))
	row.Text = g.Localized(notices.Text{"This is the whole answer.", "这是完整的回答。"})
	row.Attachments = []journal.Attachment{{Path: file, Kind: "document"}}
	return row, len(p.Text)
}

const (
	// outputCommand sends the full output of a tool.
	outputCommand = "output"
	// outputFiles is how many output files may be in the outbox at once.
	outputFiles = 8
	// outputPage is the size of a page for readers without an outbox, in UTF-16 units.
	outputPage = 8000
)

// SendOutput handles /output. It sends the full output of a tool, as a file if the platform can send files, otherwise
// in pages. In a group people only get outputs that resulted from their own messages. It returns false if the message
// is another command.
func (g *Paging) SendOutput(msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != outputCommand || msg.Notice != "" || !g.CanSay(msg) {
		return false
	}
	row := journal.Row{Key: journal.RowKey{MessageID: "h:" + msg.IngressID, N: 1}}
	back, page, ok := longtext.OutputArgs(msg.Args)
	if !ok {
		row.Text = g.Localized(notices.OutputUsage(g.At()))
	} else {
		g.outputRow(&row, back, page, turn.Meta.UserID)
	}
	g.SettleWith(msg, turn, journal.FateAnswered, "command", row)
	return true
}

// outputRow fills in the row that answers the command.
func (g *Paging) outputRow(row *journal.Row, back, page int, who string) {
	turnID, call, ok := g.outputOf(back, who)
	if !ok {
		row.Text = g.Localized(notices.NoOutput(g.At()))
		return
	}
	text, size, err := g.wholeOutput(turnID, call)
	tool := approval.ToolTitle(call)
	switch {
	case err != nil:
		g.Log(slog.LevelWarn, "the whole of a tool's output cannot be read", "tool", call.Name, "error", err)
		row.Text = g.Localized(notices.OutputGone(tool))
	case size > notices.MaxOutput:
		row.Text = g.Localized(notices.OutputLong(tool, size))
	case strings.TrimSpace(text) == "":
		row.Text = g.Localized(notices.OutputEmpty(tool))
	case !g.Via.Outbox:
		row.Text = g.outputPage(tool, text, back, page)
	default:
		g.outputParts(row, tool, text)
	}
}

// outputParts sends a short text in one message, and a long one as a file or in pages.
func (g *Paging) outputParts(row *journal.Row, tool, text string) {
	title := g.Localized(notices.Output(tool, len(text)))
	whole := title + "\n" + longtext.Fenced(text)
	if !g.Via.Documents || g.Files == nil || g.In.NoFiles || longtext.Units(whole, g.Via.MaxText) <= g.Via.MaxText {
		row.Text = g.First(row.Key, whole)
		return
	}
	name := g.outputFile()
	if name == "" {
		row.Text = g.Localized(notices.OutputBusy())
		return
	}
	file, err := g.Files.FilePath(g.Key, name)
	if err != nil {
		g.Log(slog.LevelWarn, "the output of a tool cannot be made a file; it is sent as text", "error", err)
		row.Text = g.First(row.Key, whole)
		return
	}
	g.File(name, []byte(text))
	row.Text, row.Attachments = title, []journal.Attachment{{Path: file, Kind: "document"}}
}

// outputFile returns the name of a file that no row of the outbox uses, or empty if all are in use.
func (g *Paging) outputFile() string {
	for n := range outputFiles {
		if name := fmt.Sprintf("output-%d.txt", n+1); !g.inUse(name) {
			return name
		}
	}
	return ""
}

// inUse reports whether a row of the outbox sends a file.
func (g *Paging) inUse(name string) bool {
	return slices.ContainsFunc(g.State.Outbox, func(row journal.OutboxRow) bool {
		return slices.ContainsFunc(row.Attachments, func(a journal.Attachment) bool { return path.Base(a.Path) == name })
	})
}

// outputPage returns one page of a text, for readers who request each page.
func (g *Paging) outputPage(tool, text string, back, page int) string {
	part, pages := longtext.Part(text, outputPage, page)
	if page > pages {
		return g.Localized(notices.OutputPages(tool, pages))
	}
	out := g.Localized(notices.Output(tool, len(text))) + "\n" + longtext.Fenced(part)
	if pages > 1 {
		out += "\n" + g.Localized(notices.OutputPage(back, page, pages, g.At()))
	}
	return out
}

// outputOf returns the n-th newest call with a result, and the id of its message. Tools that only send words are
// skipped. In a group only calls that resulted from the person's own messages count.
func (g *Paging) outputOf(back int, who string) (turnID string, call uimessage.Tool, ok bool) {
	for i, t := range slices.Backward(g.State.History) {
		if t.Role != uimessage.RoleAssistant {
			continue
		}
		for _, p := range slices.Backward(t.Parts) {
			call, ok := p.(uimessage.Tool)
			if !ok || !call.State.Settled() || call.Preliminary.Value || len(call.Output) == 0 && call.ErrorText.Value == "" || slices.Contains(silentTools(), call.Name) ||
				g.Group() && !g.resulted(i, call, who) {
				continue
			}
			if back--; back == 0 {
				return t.ID, call, true
			}
		}
	}
	return "", uimessage.Tool{}, false
}

// resulted reports whether a call in the i-th message of the history resulted from a person's own messages. A call that
// needed approval belongs to the person whose message asked for it, because a late decision is carried out after
// messages of others. Other calls belong to all whom the message answers.
func (g *Paging) resulted(i int, call uimessage.Tool, who string) bool {
	if who == "" {
		return false
	}
	if call.Approval != nil {
		return g.askerOf(call) == who
	}
	t := g.State.History[i]
	known := len(t.Meta.Fates) > 0
	for _, f := range t.Meta.Fates {
		if of, ok := g.State.Turn(f.ID); ok && of.Meta.UserID == who {
			return true
		}
	}
	for _, p := range t.Parts {
		if other, ok := p.(uimessage.Tool); ok && other.Approval != nil {
			known = true
			if g.askerOf(other) == who {
				return true
			}
		}
	}
	return !known && decision.Newest(g.State.History[:i]).Meta.UserID == who
}

// askerOf returns the person whose message led to the request for a call, or empty if that is not known.
func (g *Paging) askerOf(call uimessage.Tool) string {
	for _, a := range g.State.Requests(func(r journal.Request) bool { return r.ID == call.Approval.ID }) {
		return a.Request.Asker
	}
	return ""
}

// silentTools are the tools that send words and have no output of their own.
func silentTools() []string { return []string{"chat_send", "chat_contact_send"} }

// wholeOutput returns the full output of a call, with secrets masked, and its size. Above [notices.MaxOutput] only the
// size is returned.
func (g *Paging) wholeOutput(turnID string, call uimessage.Tool) (text string, size int64, err error) {
	what := longtext.SaidBy(call.Output)
	if len(call.Output) == 0 {
		what = longtext.Said{Text: call.ErrorText.Value}
	}
	if what.Archive != "" && what.Whole == "" {
		if what, err = g.archivedOutput(what.Archive, turnID, call.ToolCallID); err != nil {
			return "", 0, err
		}
	}
	text, size = what.Text, int64(len(what.Text))
	if what.Whole != "" && g.Whole != nil {
		if text, size, err = g.Whole(g.Key, what.Whole); err != nil {
			return "", 0, err
		}
		if raw := json.RawMessage(text); len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') && json.Valid(raw) {
			text = longtext.SaidBy(raw).Text
		}
	}
	if size > notices.MaxOutput {
		return "", size, nil
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if g.Mask != nil {
		text = g.Mask(text)
	}
	return text, size, nil
}

// archivedOutput reads the output of a call from the archive to which it was moved.
func (g *Paging) archivedOutput(archive, turnID, callID string) (longtext.Said, error) {
	a, err := g.Store.ReadArchive(context.Background(), archive)
	if err != nil {
		return longtext.Said{}, err
	}
	for _, line := range a.Lines {
		m, err := uimessage.Decode([]byte(line))
		if err != nil || m.ID != turnID {
			continue
		}
		for _, p := range m.Parts {
			if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == callID {
				return longtext.SaidBy(t.Output), nil
			}
		}
	}
	return longtext.Said{}, fmt.Errorf("the archive %s does not have it", archive)
}
