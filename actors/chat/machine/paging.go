package machine

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

// paging is what the chat knows about its pages file.
type paging struct {
	read bool
	open *longtext.Pages // nil if there are none
}

func (c *Chat) canPage() bool {
	return c.Files != nil && !c.in.NoFiles && c.via.Outbox && c.via.MaxText > 0 && c.via.Parts != nil
}

func (c *Chat) splitter() longtext.Splitter {
	return longtext.Splitter{MaxText: c.via.MaxText, Parts: c.via.Parts}
}

// openPages returns the pages that people can ask for. The file is read once for each activation.
func (c *Chat) openPages() *longtext.Pages {
	if c.pages.read {
		return c.pages.open
	}
	data, err := c.Files.ReadFile(context.Background(), c.key, pagesFile)
	if err != nil {
		c.log(slog.LevelWarn, "the pages of a long answer cannot be read", "error", err)
		return nil
	}
	c.pages.read = true
	if c.pages.open, err = longtext.ReadPages(data); err != nil {
		c.log(slog.LevelWarn, "the pages of a long answer are damaged and not used", "error", err)
	}
	return c.pages.open
}

// keepPages plans to write the pages file, or to clear it if p is nil.
func (c *Chat) keepPages(p *longtext.Pages) {
	c.file(pagesFile, p.Encode())
	c.pages = paging{read: true, open: p}
}

// paged returns the part of a text that is sent at once, and replaces the pages of the previous text. If files cannot
// be written, the whole text is sent.
func (c *Chat) paged(key journal.RowKey, text string) string {
	if !c.canPage() || strings.TrimSpace(text) == "" {
		return text
	}
	s := c.splitter()
	if !s.Long(text) {
		if c.openPages() != nil {
			c.keepPages(nil)
		}
		return text
	}
	body, end := s.Page(text, 0, c.pageHint(text, 0))
	c.keepPages(&longtext.Pages{V: 1, Row: key, Text: text, At: end})
	return body + c.pageHint(text, end)
}

// pageHint tells people how to read on.
func (c *Chat) pageHint(text string, at int) string {
	return "\n\n" + c.inTheirWords(notices.MorePages(at*100/max(len(text), 1)))
}

// turnPage answers a person who asks for the next page. It returns false if the message is for the model.
func (c *Chat) turnPage(msg messages.AcceptIngress, turn journal.Turn) bool {
	words, ok := onlyWords(msg)
	if !ok || msg.Verdict != messages.VerdictOpen || msg.Bot || msg.Forwarded || !c.canPage() {
		return false
	}
	want := longtext.WishOf(words)
	if want == longtext.None {
		return false
	}
	p := c.openPages()
	if p == nil || !c.begun(p) {
		return false
	}
	from, more := p.Next(msg.IngressID)
	if !more {
		return false
	}
	row, end := c.nextPage(p, from, want)
	c.keepPages(p.Turned(msg.IngressID, from, end))
	c.settleWith(msg, turn, journal.FateAnswered, "page", row)
	return true
}

// begun reports whether the first page is in the outbox or was sent. A crash can leave pages of a message that is
// generated again.
func (c *Chat) begun(p *longtext.Pages) bool {
	run := c.state.Run
	if run == nil || run.MessageID != p.Row.MessageID || c.state.Row(p.Row) != nil && !c.state.Row(p.Row).Open {
		return true
	}
	return slices.Contains(slices.Collect(maps.Values(run.Rows)), p.Row)
}

// nextPage returns the row for a page and the position where the next one begins.
func (c *Chat) nextPage(p *longtext.Pages, from int, want longtext.Wish) (row journal.Row, end int) {
	s := c.splitter()
	if want == longtext.Next {
		row.Text, end = s.Page(p.Text, from, c.pageHint(p.Text, from))
		if end < len(p.Text) {
			row.Text += c.pageHint(p.Text, end)
		}
		return row, end
	}
	row.Text = p.Rest(from)
	if !c.via.Documents || longtext.Units(row.Text, maxWhole*c.via.MaxText) <= maxWhole*c.via.MaxText {
		return row, len(p.Text)
	}
	path, err := c.Files.FilePath(c.key, wholeFile)
	if err != nil {
		c.log(slog.LevelWarn, "a long answer cannot be made a file; it is sent as text", "error", err)
		return row, len(p.Text)
	}
	c.file(wholeFile, []byte(p.Text))
	row.Text = c.inTheirWords(notices.Text{"This is the whole answer.", "这是完整的回答。"})
	row.Attachments = []journal.Attachment{{Path: path, Kind: "document"}}
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

// sendOutput handles /output. It sends the full output of a tool, as a file if the platform can send files, otherwise
// in pages. In a group people only get outputs that resulted from their own messages. It returns false if the message
// is another command.
func (c *Chat) sendOutput(msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != outputCommand || msg.Notice != "" || !c.canSay(msg) {
		return false
	}
	row := journal.Row{Key: journal.RowKey{MessageID: "h:" + msg.IngressID, N: 1}}
	back, page, ok := longtext.OutputArgs(msg.Args)
	if !ok {
		row.Text = c.inTheirWords(notices.OutputUsage())
	} else {
		c.outputRow(&row, back, page, turn.Meta.UserID)
	}
	c.settleWith(msg, turn, journal.FateAnswered, "command", row)
	return true
}

// outputRow fills in the row that answers the command.
func (c *Chat) outputRow(row *journal.Row, back, page int, who string) {
	turnID, call, ok := c.outputOf(back, who)
	if !ok {
		row.Text = c.inTheirWords(notices.NoOutput())
		return
	}
	text, size, err := c.wholeOutput(turnID, call)
	tool := approval.ToolTitle(call)
	switch {
	case err != nil:
		c.log(slog.LevelWarn, "the whole of a tool's output cannot be read", "tool", call.Name, "error", err)
		row.Text = c.inTheirWords(notices.OutputGone(tool))
	case size > notices.MaxOutput:
		row.Text = c.inTheirWords(notices.OutputLong(tool, size))
	case strings.TrimSpace(text) == "":
		row.Text = c.inTheirWords(notices.OutputEmpty(tool))
	case !c.via.Outbox:
		row.Text = c.outputPage(tool, text, back, page)
	default:
		c.outputParts(row, tool, text)
	}
}

// outputParts sends a short text in one message, and a long one as a file or in pages.
func (c *Chat) outputParts(row *journal.Row, tool, text string) {
	title := c.inTheirWords(notices.Output(tool, len(text)))
	whole := title + "\n" + longtext.Fenced(text)
	if !c.via.Documents || c.Files == nil || c.in.NoFiles || longtext.Units(whole, c.via.MaxText) <= c.via.MaxText {
		row.Text = c.paged(row.Key, whole)
		return
	}
	name := c.outputFile()
	if name == "" {
		row.Text = c.inTheirWords(notices.OutputBusy())
		return
	}
	file, err := c.Files.FilePath(c.key, name)
	if err != nil {
		c.log(slog.LevelWarn, "the output of a tool cannot be made a file; it is sent as text", "error", err)
		row.Text = c.paged(row.Key, whole)
		return
	}
	c.file(name, []byte(text))
	row.Text, row.Attachments = title, []journal.Attachment{{Path: file, Kind: "document"}}
}

// outputFile returns the name of a file that no pending row uses, or empty if all are in use.
func (c *Chat) outputFile() string {
	busy := map[string]bool{}
	for _, row := range c.state.Pending() {
		for _, a := range row.Attachments {
			busy[path.Base(a.Path)] = true
		}
	}
	for n := range outputFiles {
		if name := fmt.Sprintf("output-%d.txt", n+1); !busy[name] {
			return name
		}
	}
	return ""
}

// outputPage returns one page of a text, for readers who request each page.
func (c *Chat) outputPage(tool, text string, back, page int) string {
	part, pages := longtext.Part(text, outputPage, page)
	if page > pages {
		return c.inTheirWords(notices.OutputPages(tool, pages))
	}
	out := c.inTheirWords(notices.Output(tool, len(text))) + "\n" + longtext.Fenced(part)
	if pages > 1 {
		out += "\n" + c.inTheirWords(notices.OutputPage(back, page, pages))
	}
	return out
}

// outputOf returns the n-th newest call with a result, and the id of its message. Tools that only send words are
// skipped. In a group only calls that resulted from the person's own messages count.
func (c *Chat) outputOf(back int, who string) (turnID string, call uimessage.Tool, ok bool) {
	group := c.group()
	for i, t := range slices.Backward(c.state.History) {
		if t.Role != uimessage.RoleAssistant || group && (who == "" || newest(c.state.History[:i]).Meta.UserID != who) {
			continue
		}
		for _, p := range slices.Backward(t.Parts) {
			call, ok := p.(uimessage.Tool)
			if !ok || !call.State.Settled() || call.Preliminary.Value || len(call.Output) == 0 && call.ErrorText.Value == "" || slices.Contains(silentTools(), call.Name) {
				continue
			}
			if back--; back == 0 {
				return t.ID, call, true
			}
		}
	}
	return "", uimessage.Tool{}, false
}

// silentTools are the tools that send words and have no output of their own.
func silentTools() []string { return []string{"chat_send", "chat_contact_send"} }

// wholeOutput returns the full output of a call, with secrets masked, and its size. Above [notices.MaxOutput] only the
// size is returned.
func (c *Chat) wholeOutput(turnID string, call uimessage.Tool) (text string, size int64, err error) {
	what := longtext.SaidBy(call.Output)
	if len(call.Output) == 0 {
		what = longtext.Said{Text: call.ErrorText.Value}
	}
	if what.Archive != "" && what.Whole == "" {
		if what, err = c.archivedOutput(what.Archive, turnID, call.ToolCallID); err != nil {
			return "", 0, err
		}
	}
	text, size = what.Text, int64(len(what.Text))
	if what.Whole != "" && c.Whole != nil {
		if text, size, err = c.Whole(c.key, what.Whole); err != nil {
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
	if c.Mask != nil {
		text = c.Mask(text)
	}
	return text, size, nil
}

// archivedOutput reads the output of a call from the archive to which it was moved.
func (c *Chat) archivedOutput(archive, turnID, callID string) (longtext.Said, error) {
	a, err := c.store.ReadArchive(context.Background(), archive)
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
