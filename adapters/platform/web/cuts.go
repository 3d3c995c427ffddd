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
	// resumeFor is how long after its end a message can be resumed by readers whose stream was cut.
	resumeFor = time.Minute
	// maxCutChats and maxCuts bound how many chats, and messages of each, are remembered.
	maxCutChats = 1024
	maxCuts     = 8
)

// cuts remembers which streams were cut before their readers had the whole message, so that they
// can still get it once it is complete.
type cuts struct {
	mu    sync.Mutex
	chats map[messages.ChatKey][]cut
}

// cut is a message that its readers have only partly, or in a version that is obsolete.
type cut struct {
	message string // empty if it had not begun
	turn    string // the turn that it answers; empty if not known
	readers int
	at      time.Time // when the last stream was cut
}

func newCuts() *cuts { return &cuts{chats: map[messages.ChatKey][]cut{}} }

// note records a stream that was cut.
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

// take returns what a reader who reconnects to a chat may lack, and counts that reader off.
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

// takeTurn counts off one reader of the answer to a turn, who requests that answer again.
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

// missed returns the complete messages that a reconnecting reader lacks, in the order of the chat:
// their streams were cut, and the cut or the end of the message is less than a minute ago.
func missed(view platform.ChatView, list []cut, now time.Time) []uimessage.Message {
	var out []uimessage.Message
	for i, m := range view.Messages {
		if m.Role != uimessage.RoleAssistant || view.Running && i == len(view.Messages)-1 {
			continue
		}
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // if the end has no time, only that of the cut counts
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
