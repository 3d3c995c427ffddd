// Package quoting keeps the messages of a group that did not address the bot, and quotes them with the next turn.
package quoting

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxQuotes is the total length of what a turn quotes, in bytes.
const maxQuotes = 16 << 10

// Quoting keeps the ignored messages of a group since its last turn, to be quoted with the next one.
type Quoting struct {
	*decision.Base
	read bool // the ledger was read
	list []uimessage.Quoted
}

// Overhear remembers an ignored message that is durable now.
func (k *Quoting) Overhear(in journal.Ingress, turn journal.Turn) {
	if in.Text == "" || !k.read {
		return // withQuotes will read it from the ledger
	}
	k.list = append(k.list, uimessage.Quoted{
		TS: turn.Meta.TS, From: in.Username, User: in.UserID, MessageID: in.MessageID, Text: in.Text,
	})
	k.list = k.list[max(0, len(k.list)-k.Quotes()):]
}

// Quoted forgets the messages that a turn quotes now.
func (k *Quoting) Quoted() { k.list = nil }

// TakeBack forgets a message that its author recalled.
func (k *Quoting) TakeBack(messageID string) {
	k.list = slices.DeleteFunc(slices.Clone(k.list), func(q uimessage.Quoted) bool { return q.MessageID == messageID })
}

// WithQuotes copies the messages since the last turn into a turn's metadata. Because they are stored there, they read
// the same in every request.
func (k *Quoting) WithQuotes(meta uimessage.Metadata) uimessage.Metadata {
	n := k.Quotes()
	if n <= 0 {
		return meta
	}
	if !k.read {
		k.read, k.list = true, k.overheard(n)
	}
	list, size := k.list, 0
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

// maxRead is how many entries of the ledger are looked at. The last turn may be far back, or not be in the history any
// more.
const maxRead = 10_000

// overheard reads the last n ignored messages since the last turn from the ledger, and stops there.
func (k *Quoting) overheard(n int) []uimessage.Quoted {
	since := decision.Newest(k.State.History).Meta.TS
	for _, t := range k.State.Lane {
		since = max(since, t.Meta.TS)
	}
	var list []uimessage.Quoted
	recalled, read := map[string]bool{}, 0
	for e := range k.Ledger {
		if read++; e.TS <= since || len(list) == n || read > maxRead {
			break
		}
		if e.Reason == decision.ReasonRecalled {
			recalled[e.MessageID] = true
		}
		if e.Dir == journal.DirIn && e.Fate == journal.FateIgnored && e.Text != "" && !recalled[e.MessageID] {
			list = append(list, uimessage.Quoted{TS: e.TS, From: e.Username, User: e.UserID, MessageID: e.MessageID, Text: e.Text})
		}
	}
	slices.Reverse(list)
	return list
}
