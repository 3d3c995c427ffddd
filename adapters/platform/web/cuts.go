package web

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// resumeFor is how long after its end a message can be resumed by readers whose
	// stream of it was cut.
	resumeFor = time.Minute
	// maxCutChats and maxCuts bound what is remembered: chats, and messages of each.
	maxCutChats = 1024
	maxCuts     = 8
)

// cuts remembers which streams were cut before their readers had a whole message, so
// that those can still have it when it is complete.
type cuts struct {
	mu    sync.Mutex
	chats map[messages.ChatKey][]cut
}

// cut is a message whose readers do not have all of it, or words that are void.
type cut struct {
	message string // empty: it had not begun
	turn    string // that it answers; empty: not known
	readers int
	at      time.Time // when the last of them was cut
}

func newCuts() *cuts { return &cuts{chats: map[messages.ChatKey][]cut{}} }

// note remembers a stream that was cut.
func (c *cuts) note(key messages.ChatKey, message, turn string, now time.Time) {
	if message == "" && turn == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.chats[key]
	if i := slices.IndexFunc(list, func(k cut) bool { return k.message == message && (message != "" || k.turn == turn) }); i >= 0 {
		list[i].readers++
		list[i].turn, list[i].at = cmp.Or(turn, list[i].turn), now
		return
	}
	if len(list) == 0 && len(c.chats) >= maxCutChats {
		c.dropOldest()
	}
	list = append(list, cut{message: message, turn: turn, readers: 1, at: now})
	c.chats[key] = list[max(0, len(list)-maxCuts):]
}

func (c *cuts) dropOldest() {
	var oldest messages.ChatKey
	var at time.Time
	for key, list := range c.chats {
		if last := list[len(list)-1].at; at.IsZero() || last.Before(at) {
			oldest, at = key, last
		}
	}
	delete(c.chats, oldest)
}

// take returns what one reader who comes back to a chat may lack.
func (c *cuts) take(key messages.ChatKey) []cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.chats[key])
	var left []cut
	for _, k := range out {
		if k.readers--; k.readers > 0 {
			left = append(left, k)
		}
	}
	if c.chats[key] = left; left == nil {
		delete(c.chats, key)
	}
	return out
}

// takeTurn forgets one reader of the answer to a turn, who asks for that answer again.
func (c *cuts) takeTurn(key messages.ChatKey, turn string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.chats[key]
	for i := range list {
		if list[i].turn == turn {
			list[i].readers--
		}
	}
	if list = slices.DeleteFunc(list, func(k cut) bool { return k.readers <= 0 }); len(list) == 0 {
		delete(c.chats, key)
		return
	}
	c.chats[key] = list
}

// missed are the complete messages that a reader who comes back lacks, in the order of
// the chat: those whose streams were cut and that ended less than a minute ago.
func missed(view platform.ChatView, list []cut, now time.Time) []uimessage.Message {
	var out []uimessage.Message
	for i, m := range view.Messages {
		if m.Role != uimessage.RoleAssistant || view.Running && i == len(view.Messages)-1 {
			continue
		}
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // without a time only the cut has one
		for _, k := range list {
			answer, _, done := answerOf(view, k.turn)
			if m.ID != k.message && (k.message != "" || !done || m.ID != answer.ID) {
				continue
			}
			if now.Before(k.at.Add(resumeFor)) || now.Before(time.UnixMilli(meta.TS).Add(resumeFor)) {
				out = append(out, m)
				break
			}
		}
	}
	return out
}
