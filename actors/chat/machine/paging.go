package machine

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
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

// pages is the unsent rest of a long text. It is kept in a file with the chat, so that it survives a restart; its
// pages are sent through the outbox.
type pages struct {
	V   int            `json:"v"`
	Row journal.RowKey `json:"row"` // of the first page
	// Text is the full text, and At is how much of it has been sent.
	Text string `json:"text"`
	At   int    `json:"at"`
	// By is the ingress that last asked for a page, and From is where that page began: the same ingress, repeated
	// after a crash, gets the same page.
	By   string `json:"by,omitempty"`
	From int    `json:"from,omitempty"`
}

// paging is what the chat knows about its pages file.
type paging struct {
	read bool
	open *pages // nil if there are none
}

func (c *Chat) canPage() bool {
	return c.Files != nil && !c.in.NoFiles && c.via.Outbox && c.via.MaxText > 0 && c.via.Parts != nil
}

func (c *Chat) splitter() longtext.Splitter {
	return longtext.Splitter{MaxText: c.via.MaxText, Parts: c.via.Parts}
}

// openPages returns the pages that people can ask for. The file is read once for each activation.
func (c *Chat) openPages() *pages {
	if c.pages.read {
		return c.pages.open
	}
	data, err := c.Files.ReadFile(context.Background(), c.key, pagesFile)
	if err != nil {
		c.log(slog.LevelWarn, "the pages of a long answer cannot be read", "error", err)
		return nil
	}
	c.pages = paging{read: true}
	if len(data) == 0 {
		return nil
	}
	var p pages
	if err := json.Unmarshal(data, &p); err != nil || !p.valid() {
		c.log(slog.LevelWarn, "the pages of a long answer are damaged and not used", "error", err)
		return nil
	}
	c.pages.open = &p
	return &p
}

func (p *pages) valid() bool {
	return p.V == 1 && p.From >= 0 && p.From <= p.At && p.At <= len(p.Text)
}

// keepPages plans to write the pages file, or to clear it if p is nil.
func (c *Chat) keepPages(p *pages) {
	var data []byte
	if p != nil {
		data, _ = json.Marshal(p) // numbers and strings only, so it cannot fail
	}
	c.file(pagesFile, data)
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
	c.keepPages(&pages{V: 1, Row: key, Text: text, At: end})
	return body + c.pageHint(text, end)
}

// pageHint tells people how to read on.
func (c *Chat) pageHint(text string, at int) string {
	percent := strconv.Itoa(at * 100 / max(len(text), 1))
	return "\n\n" + c.inTheirWords(notices.Text{
		"(" + percent + " % shown. Reply \"continue\" for more, \"full output\" for the rest.)",
		"（已显示 " + percent + "%。回复“继续”查看下一页，“发完整输出”查看全部。）",
	})
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
	from := p.At
	if p.By == msg.IngressID {
		from = p.From
	}
	if from == len(p.Text) {
		return false
	}
	row, end := c.nextPage(p, from, want)
	c.keepPages(&pages{V: 1, Row: p.Row, Text: p.Text, At: end, By: msg.IngressID, From: from})
	c.settleWith(msg, turn, "page", row)
	return true
}

// begun reports whether the first page is in the outbox or was sent. A crash can leave pages of a message that is
// generated again.
func (c *Chat) begun(p *pages) bool {
	run := c.state.Run
	if run == nil || run.MessageID != p.Row.MessageID || c.state.Row(p.Row) != nil && !c.state.Row(p.Row).Open {
		return true
	}
	for _, key := range run.Rows {
		if key == p.Row {
			return true
		}
	}
	return false
}

// nextPage returns the row for a page and the position where the next one begins.
func (c *Chat) nextPage(p *pages, from int, want longtext.Wish) (row journal.Row, end int) {
	s := c.splitter()
	if want == longtext.Next {
		row.Text, end = s.Page(p.Text, from, c.pageHint(p.Text, from))
		if end < len(p.Text) {
			row.Text += c.pageHint(p.Text, end)
		}
		return row, end
	}
	row.Text = longtext.FenceAt(p.Text, from) + p.Text[from:]
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

// settleWith answers an ingress with a row of the host's.
func (c *Chat) settleWith(msg messages.AcceptIngress, turn journal.Turn, reason string, row journal.Row) {
	fact := journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: journal.FateAnswered, Reason: reason, Rows: c.hostRow(msg, turn, row.Text)}
	for i := range fact.Rows {
		fact.Rows[i].Attachments = slices.Clone(row.Attachments)
	}
	c.settleBy(msg, turn, fact, row.Text)
}
