package wire

import (
	"hash/maphash"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

// maxVersions is the minimum number of messages kept; up to twice as many are.
const maxVersions = 2048

// Versions remembers the latest content of messages. The service also reports edits that do not
// change it, for example a message's first reaction or link preview; without this check people
// would be answered twice. It is safe for concurrent use.
type Versions struct {
	seed  maphash.Seed
	known *recent.Map[messageID, version]
}

type messageID struct{ chat, id int64 }

// version is the content of a message at some time.
type version struct {
	at   int64
	edit bool
	sum  uint64
	same bool // equal to the version before
}

// NewVersions returns an empty record.
func NewVersions() *Versions {
	return &Versions{seed: maphash.MakeSeed(), known: recent.New[messageID, version](maxVersions)}
}

// Same records the content of a message and reports whether it is an edit that changes nothing. A
// redelivered update gets the same result. An update older than the known version, as one that
// is delivered again, is not compared.
func (v *Versions) Same(msg *Message, edit bool) (same bool) {
	next := version{at: max(msg.Date, msg.EditDate), edit: edit, sum: v.said(msg)}
	v.known.Update(messageID{msg.Chat.ID, msg.ID}, func(old version, known bool) version {
		switch {
		case known && old.at == next.at && old.edit == edit && old.sum == next.sum:
			same = old.same
			return old
		case known && old.at > next.at:
			return old
		}
		next.same = edit && known && old.sum == next.sum
		same = next.same
		return next
	})
	return same
}

// said hashes everything of a message that is passed on.
func (v *Versions) said(msg *Message) uint64 {
	var h maphash.Hash
	h.SetSeed(v.seed)
	write := func(s string) {
		_, _ = h.WriteString(s) // it never fails
		_ = h.WriteByte(0)
	}
	for _, s := range []string{msg.Text, msg.Caption, string(msg.Rich), msg.other()} {
		write(s)
	}
	if kind, f := msg.File(); f != nil {
		write(kind)
		write(f.Unique)
		write(f.Name)
	}
	return h.Sum64()
}
