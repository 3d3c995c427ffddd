package prompt

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Options say how a chat's history reads.
type Options struct {
	// ChatKey is the chat whose stored pictures are shown: no other's are.
	ChatKey messages.ChatKey
	// Group adds who sent a turn to its header.
	Group bool
	// Location is the zone of the times in headers; nil means UTC.
	Location *time.Location
	// ToolName gives the name that a tool is offered by; nil means its own. It must
	// stay the same while a Cache is used.
	ToolName func(string) string
	// Cache keeps converted turns from one request to the next; nil keeps none.
	Cache *Cache
}

// Messages are the history as the model reads it. The last turn may be an
// assistant message under way, at a border of its steps. A turn of another role
// than user and assistant is none of a history and is left out: nothing stored
// speaks as the system. Nobody changes the result.
func Messages(history []uimessage.Message, opts Options) []modelmessage.Message {
	return MessagesOf(History{Len: len(history), At: func(i int) *uimessage.Message { return &history[i] }}, opts)
}

// History is a history in a place of its own: At is the ith of Len turns. What it
// points to is not changed while it is read.
type History struct {
	Len int
	At  func(i int) *uimessage.Message
}

// MessagesOf is [Messages] without a copy of the history, which may be long: with a
// cache its cost beyond what is new is that of comparing turns.
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
	converted, err := modelmessage.AppendConverted(nil, &m, modelmessage.Options{})
	if err != nil {
		return dst // Unreachable: the role is known, there are parts, and no tool converts its own output.
	}
	converted = show.returned(notEmpty(converted), &m)
	uniqueIDs(converted, ids)
	return append(dst, converted...)
}

// Cache keeps the converted turns of one chat, so that a request over a history
// that grew converts only what is new. A turn is known again by its id and the
// identity of its parts and metadata, which nobody changes; a turn that was
// replaced is converted anew, with all behind it. An assistant message at the end
// may be under way and is never kept. The zero value is ready. A Cache belongs to
// one goroutine, and holds on to the turns it knows.
type Cache struct {
	group bool
	loc   *time.Location
	chat  messages.ChatKey
	hide  int // pictures that have become notes
	aged  int // times that more of them did
	turns []turnKey
	done  []modelmessage.Message
	ids   callIDs
}

// turnKey identifies a turn in one revision. While it is kept, the memory that it
// points to is not given to another turn.
type turnKey struct {
	id       string
	parts    *uimessage.Part
	metadata *byte
	// count and size tell slices of different lengths apart.
	count, size int
	// end, ids and pictures are the numbers of messages, of call ids and of pictures up to
	// and with this turn.
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

// pictures is how many pictures the turns have that are kept.
func (c *Cache) pictures() int {
	if len(c.turns) == 0 {
		return 0
	}
	return c.turns[len(c.turns)-1].pictures
}

// age replaces the oldest pictures by notes once there are too many: what is kept is
// converted anew then.
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

// Aged counts the times that pictures which requests had shown became notes: each time the
// next request did not begin with the one before.
func (c *Cache) Aged() int { return c.aged }

// forget drops what is kept from the first turn on that is another one now.
// What was handed out stays as it is.
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
