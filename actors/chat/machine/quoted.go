package machine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// maxQuote is how much of an ignored message is kept, in characters.
	maxQuote = 500
	// maxQuotes is the total length of what a turn quotes, in bytes.
	maxQuotes = 16 << 10
)

// quoting holds the ignored messages of a group since its last turn.
type quoting struct {
	read bool // the ledger was read
	list []uimessage.Quoted
}

// quotes returns how many ignored messages a turn of the chat may quote.
func (c *Chat) quotes() int {
	if c.GroupContext == nil {
		return 0
	}
	return c.GroupContext(c.key)
}

// quotable returns what is kept of an ignored message, or empty. The words of people without access are never kept.
func (c *Chat) quotable(msg messages.AcceptIngress) string {
	if msg.Verdict != messages.VerdictIgnored || !msg.Quote || msg.Bot || c.quotes() <= 0 {
		return ""
	}
	for _, p := range msg.Turn.Parts {
		if t, ok := p.(uimessage.Text); ok {
			r := []rune(strings.TrimSpace(t.Text))
			return string(r[:min(len(r), maxQuote)])
		}
	}
	return ""
}

// overhear remembers an ignored message that is durable now.
func (c *Chat) overhear(in journal.Ingress, turn journal.Turn, fate journal.Fate) {
	if fate != journal.FateIgnored || in.Text == "" || !c.quoted.read {
		return // withQuotes will read it from the ledger
	}
	c.quoted.list = append(c.quoted.list, uimessage.Quoted{
		TS: turn.Meta.TS, From: in.Username, User: in.UserID, MessageID: in.MessageID, Text: in.Text,
	})
	c.quoted.list = c.quoted.list[max(0, len(c.quoted.list)-c.quotes()):]
}

// withQuotes copies the messages since the last turn into a turn's metadata. Because they are stored there, they read
// the same in every request.
func (c *Chat) withQuotes(meta uimessage.Metadata) uimessage.Metadata {
	n := c.quotes()
	if n <= 0 {
		return meta
	}
	if !c.quoted.read {
		c.quoted = quoting{read: true, list: c.overheard(n)}
	}
	list, size := c.quoted.list, 0
	for i, q := range slices.Backward(list) {
		if size += len(q.Text); size > maxQuotes {
			list = list[i+1:]
			break
		}
	}
	if len(list) == 0 {
		return meta
	}
	value, err := json.Marshal(list)
	if err != nil {
		return meta // Unreachable: it always encodes
	}
	meta.Extra = append(slices.Clone(meta.Extra), uimessage.Member{Name: uimessage.QuotedMember, Value: value})
	return meta
}

// overheard reads the last n ignored messages since the last turn from the ledger.
func (c *Chat) overheard(n int) []uimessage.Quoted {
	since := newest(c.state.History).Meta.TS
	for _, t := range c.state.Lane {
		since = max(since, t.Meta.TS)
	}
	var list []uimessage.Quoted
	for e := range c.ledger() {
		if e.Reason == reasonTakenBack {
			list = slices.DeleteFunc(list, func(q uimessage.Quoted) bool { return q.MessageID == e.MessageID })
		}
		if e.Dir != journal.DirIn || e.Fate != journal.FateIgnored || e.Text == "" || e.TS <= since {
			continue
		}
		list = append(list, uimessage.Quoted{TS: e.TS, From: e.Username, User: e.UserID, MessageID: e.MessageID, Text: e.Text})
		list = list[max(0, len(list)-n):]
	}
	return list
}
