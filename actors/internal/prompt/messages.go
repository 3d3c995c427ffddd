package prompt

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Options configure how a chat's history is converted.
type Options struct {
	// ChatKey is the chat whose stored pictures are shown; pictures of other chats are not.
	ChatKey messages.ChatKey
	// Group adds the sender of a turn to its header.
	Group bool
	// Location is the time zone of headers; nil means UTC.
	Location *time.Location
	// ToolName returns the name under which a tool is offered; nil means its own. It must not change
	// while a Cache is used.
	ToolName func(string) string
	// Cache keeps converted turns for the next request; may be nil.
	Cache *Cache
}

// History gives access to a history without copying it: At returns the ith of Len turns. What it
// refers to must not change while it is read.
type History struct {
	Len int
	At  func(i int) *uimessage.Message
}

// MessagesOf converts the history for the model. The last turn may be an unfinished assistant
// message, at a boundary of its steps. A turn with a role other than user or assistant is left out,
// because nothing stored may speak as the system. With a cache, known turns only cost a comparison.
// The result must not be changed.
func MessagesOf(history History, opts Options) []modelmessage.Message {
	if opts.Cache == nil {
		opts.Cache = &Cache{}
	}
	return opts.Cache.messages(history, opts)
}

// convert appends one turn with all passes. The ids are those of the turns before.
func convert(dst []modelmessage.Message, m uimessage.Message, opts Options, ids *callIDs, show *pictures) []modelmessage.Message {
	if m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant {
		return dst
	}
	dst = withContactNote(dst, m, opts.Location)
	m = withHeader(show.sent(m), opts.Group, opts.Location)
	m = tools(m, toolPasses(opts.ToolName))
	if m.Parts == nil {
		return dst
	}
	converted, err := modelmessage.AppendConverted(nil, &m)
	if err != nil {
		return dst // Unreachable: the role is known, there are parts, and no tool converts its own output.
	}
	converted = show.returned(notEmpty(converted), &m)
	uniqueIDs(converted, ids)
	return append(dst, converted...)
}

// Cache keeps the converted turns of one chat, so that a request over a longer history converts
// only the new turns. A turn is recognised by its id and the identity of its parts and metadata,
// which are immutable; a turn that was replaced is converted again, with all turns after it. An
// assistant message at the end may be unfinished and is never kept. The zero value is ready. A
// Cache belongs to one goroutine, and references the turns it knows.
type Cache struct {
	group bool
	loc   *time.Location
	chat  messages.ChatKey
	hide  int // pictures that have become notes
	aged  int // times that more pictures became notes
	turns []turnKey
	done  []modelmessage.Message
	ids   callIDs
}

// turnKey identifies a turn in one revision. While the key is kept, the memory that it points to is
// not reused for another turn.
type turnKey struct {
	id       string
	parts    *uimessage.Part
	metadata *byte
	// count and size distinguish slices of different lengths.
	count, size int
	// end, ids and pictures are the numbers of messages, call ids and pictures up to and including
	// this turn.
	end, ids, pictures int
}

func keyOf(m *uimessage.Message) turnKey {
	k := turnKey{id: m.ID, count: len(m.Parts), size: len(m.Metadata)}
	if k.count > 0 {
		k.parts = &m.Parts[0]
	}
	if k.size > 0 {
		k.metadata = &m.Metadata[0]
	}
	return k
}

// is reports whether two keys name the same revision of the same turn.
func (k turnKey) is(o turnKey) bool {
	o.end, o.ids, o.pictures = k.end, k.ids, k.pictures
	return k == o
}

func (c *Cache) messages(history History, opts Options) []modelmessage.Message {
	if c.group != opts.Group || c.loc != opts.Location || c.chat != opts.ChatKey {
		*c = Cache{group: opts.Group, loc: opts.Location, chat: opts.ChatKey}
	}
	settled := history.Len
	if settled > 0 && history.At(settled-1).Role == uimessage.RoleAssistant {
		settled--
	}
	c.forget(History{Len: settled, At: history.At})
	c.age(history)
	for i := len(c.turns); i < settled; i++ {
		m := history.At(i)
		show := pictures{chat: c.chat, next: c.pictures(), hide: c.hide}
		c.done = convert(c.done, *m, opts, &c.ids, &show)
		k := keyOf(m)
		k.end, k.ids, k.pictures = len(c.done), len(c.ids.order), c.pictures()+PicturesIn(m)
		c.turns = append(c.turns, k)
	}
	out := slices.Clip(c.done)
	if settled == history.Len {
		return out
	}
	defer c.ids.release(len(c.ids.order))
	show := pictures{chat: c.chat, next: c.pictures(), hide: c.hide}
	return convert(out, *history.At(settled), opts, &c.ids, &show)
}

// pictures counts the pictures of the kept turns.
func (c *Cache) pictures() int {
	if len(c.turns) == 0 {
		return 0
	}
	return c.turns[len(c.turns)-1].pictures
}

// age replaces the oldest pictures with notes once there are too many, and converts the turns with
// them again.
func (c *Cache) age(history History) {
	all := c.pictures()
	for i := len(c.turns); i < history.Len; i++ {
		all += PicturesIn(history.At(i))
	}
	hide := HiddenOf(all)
	if hide == c.hide {
		return
	}
	if hide > c.hide && len(c.turns) > 0 {
		c.aged++
	}
	*c = Cache{group: c.group, loc: c.loc, chat: c.chat, hide: hide, aged: c.aged}
}

// Aged counts how often pictures that were shown before became notes: each time, the next request
// did not begin with the previous one.
func (c *Cache) Aged() int { return c.aged }

// forget drops kept turns from the first changed one on. Results returned before do not change.
func (c *Cache) forget(history History) {
	same := 0
	for same < len(c.turns) && same < history.Len && c.turns[same].is(keyOf(history.At(same))) {
		same++
	}
	if same == len(c.turns) {
		return
	}
	var last turnKey
	if same > 0 {
		last = c.turns[same-1]
	}
	c.turns = slices.Clone(c.turns[:same])
	c.done = slices.Clone(c.done[:last.end])
	c.ids.release(last.ids)
}
