package machine

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/longtext"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
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
