package telegram

import (
	"hash/maphash"
	"sync"
)

// reasonUnchanged: an edit of something that nobody sees.
const reasonUnchanged = "unchanged"

// maxVersions is how many messages are remembered at least; up to twice as many are.
const maxVersions = 2048

// versions remember what messages said last. The service also reports edits that
// change nothing of it, as when a message gets its first reaction or a preview of its
// link: whoever was answered would be answered once more. They are safe for concurrent use.
type versions struct {
	seed maphash.Seed

	mu          sync.Mutex
	now, before map[messageID]version
}

type messageID struct{ chat, id int64 }

// version is what a message said at some time.
type version struct {
	at   int64
	edit bool
	sum  uint64
	same bool // as the version before
}

func newVersions() *versions {
	return &versions{seed: maphash.MakeSeed(), now: map[messageID]version{}}
}

// same notes what a message says and tells whether that is an edit which changes
// nothing. An update that comes again gets the answer it got; one that is older than
// what is known, as happens after a look ahead, is not judged.
func (v *versions) same(msg *message, edit bool) bool {
	key := messageID{msg.Chat.ID, msg.ID}
	next := version{at: max(msg.Date, msg.EditDate), edit: edit, sum: v.said(msg)}
	v.mu.Lock()
	defer v.mu.Unlock()
	old, known := v.now[key]
	if !known {
		old, known = v.before[key]
	}
	switch {
	case known && old.at == next.at && old.edit == edit && old.sum == next.sum:
		return old.same
	case known && old.at > next.at:
		return false
	}
	next.same = edit && known && old.sum == next.sum
	if len(v.now) >= maxVersions {
		v.before, v.now = v.now, make(map[messageID]version)
	}
	v.now[key] = next
	return next.same
}

// said sums up all of a message that is passed on.
func (v *versions) said(msg *message) uint64 {
	var h maphash.Hash
	h.SetSeed(v.seed)
	write := func(s string) {
		_, _ = h.WriteString(s) // it never fails
		_ = h.WriteByte(0)
	}
	for _, s := range []string{msg.Text, msg.Caption, string(msg.Rich), msg.other()} {
		write(s)
	}
	if kind, f := msg.file(); f != nil {
		write(kind)
		write(f.Unique)
		write(f.Name)
	}
	return h.Sum64()
}
