package openai

import (
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// maxHeads is how many heads are kept. A host has few: chats that answer by
// chat_send, chats that do not, summaries, memories, and what skills leave of them.
const maxHeads = 16

// head is what a body says before its messages: the tools most of all, tens of
// kilobytes that are the same in nearly all chats. They share it, in memory and in
// the work of making it.
type head struct {
	tools      []model.ToolSpec
	toolChoice string
	maxTokens  int
	bytes      []byte // never changed
}

// says reports whether the head is a request's. Values that share their memory are
// compared without looking at it.
func (h *head) says(req model.Request) bool {
	return h.toolChoice == req.ToolChoice && h.maxTokens == req.MaxOutputTokens &&
		slices.EqualFunc(h.tools, req.Tools, func(a, b model.ToolSpec) bool {
			return a.Name == b.Name && a.Description == b.Description && string(a.InputSchema) == string(b.InputSchema)
		})
}

// heads are the newest of one model. They are safe for concurrent use.
type heads struct {
	mu   sync.Mutex
	kept []*head // used last comes last
}

// of is the head of a request. Equal requests get the same one while it is kept.
func (k *heads) of(w *bodyWriter, req model.Request) *head {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, h := range slices.Backward(k.kept) {
		if h.says(req) {
			copy(k.kept[i:], k.kept[i+1:])
			k.kept[len(k.kept)-1] = h
			return h
		}
	}
	h := &head{slices.Clone(req.Tools), req.ToolChoice, req.MaxOutputTokens, slices.Clip(w.appendHead(nil, req))}
	if len(k.kept) == maxHeads {
		k.kept = slices.Delete(k.kept, 0, 1)
	}
	k.kept = append(k.kept, h)
	return h
}
