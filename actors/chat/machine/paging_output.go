package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/longtext"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// outputCommand sends the whole of what a tool said.
	outputCommand = "output"
	// outputFiles is how many outputs can be on their way to people at once.
	outputFiles = 8
	// outputPage is what readers without an outbox get of an output at once, in
	// UTF-16 units.
	outputPage = 8000
	// maxBack is how far back an output can be asked for.
	maxBack = 1000
)

// sendOutput obeys /output: it sends the whole of what a tool said, as a file where
// the platform can, else in pages. Of a group's outputs people get those that came of
// their own messages. False: the message is no such order.
func (c *Chat) sendOutput(msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != outputCommand || msg.Notice != "" || !c.canSay(msg) {
		return false
	}
	row := journal.Row{Key: journal.RowKey{MessageID: "h:" + msg.IngressID, N: 1}}
	back, page, ok := outputArgs(msg.Args)
	if !ok {
		row.Text = c.inTheirWords(notices.OutputUsage())
	} else {
		c.outputRow(&row, back, page, turn.Meta.UserID)
	}
	c.settleWith(msg, turn, journal.FateAnswered, "command", row)
	return true
}

// outputArgs reads how far back, and which page.
func outputArgs(args string) (back, page int, ok bool) {
	back, page = 1, 1
	fields := strings.Fields(args)
	if len(fields) > 2 {
		return 0, 0, false
	}
	for i, n := range []*int{&back, &page} {
		if i >= len(fields) {
			break
		}
		v, err := strconv.Atoi(strings.TrimPrefix(fields[i], "#"))
		if err != nil || v < 1 || v > maxBack {
			return 0, 0, false
		}
		*n = v
	}
	return back, page, true
}

// outputRow fills in what is sent.
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

// outputParts sends a text at once if it is short, else as a file, else in pages.
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

// outputFile is the name of a file that is not on its way to people; empty: all are.
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

// outputPage is one page of a text, for readers who ask for each.
func (c *Chat) outputPage(tool, text string, back, page int) string {
	var at, n, pages int
	from, to := 0, 0
	for at < len(text) {
		end := at + longtext.Cut(text[at:], outputPage)
		if pages++; pages == page {
			from, to, n = at, end, page
		}
		at = end
	}
	if n == 0 {
		return c.inTheirWords(notices.OutputPages(tool, pages))
	}
	out := c.inTheirWords(notices.Output(tool, len(text))) + "\n" + longtext.Fenced(text[from:to])
	if pages > 1 {
		out += "\n" + c.inTheirWords(notices.OutputPage(back, page, pages))
	}
	return out
}

// outputOf is the n-th newest call with a result, and the message that it is in. What
// tools said that only send words is no output. In a group people get what came of
// their own messages.
func (c *Chat) outputOf(back int, who string) (turnID string, call uimessage.Tool, ok bool) {
	group := c.group()
	for i, t := range slices.Backward(c.state.History) {
		if t.Role != uimessage.RoleAssistant || group && (who == "" || c.askedBefore(i) != who) {
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

// silentTools send words, and have nothing to say themselves.
func silentTools() []string { return []string{"chat_send", "chat_contact_send"} }

// askedBefore is who wrote the newest message before a place of the history.
func (c *Chat) askedBefore(i int) string {
	for _, t := range slices.Backward(c.state.History[:i]) {
		if t.Role == uimessage.RoleUser {
			return t.Meta.UserID
		}
	}
	return ""
}

// wholeOutput is all that a tool said, without secrets, and how long it is.
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

// archivedOutput is what a tool said before that was left out of the history.
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
	return longtext.Said{}, fmt.Errorf("the archive %s does not have it: %w", archive, persistence.ErrNotFound)
}
