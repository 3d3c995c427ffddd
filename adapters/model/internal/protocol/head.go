package protocol

import (
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// maxHeads is how many heads are kept. A host has few: for chats that answer through chat_send,
// chats that do not, summaries, memories, and the variants due to skills.
const maxHeads = 16

// head is the part of a body before its messages, above all the tools: tens of kilobytes that are
// the same in nearly all chats. Chats share it, which saves memory and encoding.
type head struct {
	tools      []model.ToolSpec
	toolChoice string
	effort     string
	maxTokens  int
	known      int    // [Sight.Revision]
	bytes      []byte // never changed
}

// says reports whether the head is that of a request. Values that share memory are compared without
// reading it.
func (h *head) says(req model.Request, known int) bool {
	return h.known == known && h.toolChoice == req.ToolChoice && h.effort == req.Effort && h.maxTokens == req.MaxOutputTokens &&
		slices.EqualFunc(h.tools, req.Tools, func(a, b model.ToolSpec) bool {
			return a.Name == b.Name && a.Description == b.Description && string(a.InputSchema) == string(b.InputSchema)
		})
}

// heads holds the most recent heads of one model. It is safe for concurrent use.
type heads struct {
	mu   sync.Mutex
	kept []*head // most recently used last
}

// of returns the head of a request. Equal requests share one while it is kept.
func (k *heads) of(f Form, req model.Request, known int) *head {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, h := range slices.Backward(k.kept) {
		if h.says(req, known) {
			copy(k.kept[i:], k.kept[i+1:])
			k.kept[len(k.kept)-1] = h
			return h
		}
	}
	h := &head{slices.Clone(req.Tools), req.ToolChoice, req.Effort, req.MaxOutputTokens, known, slices.Clip(f.AppendHead(nil, req))}
	if len(k.kept) == maxHeads {
		k.kept = slices.Delete(k.kept, 0, 1)
	}
	k.kept = append(k.kept, h)
	return h
}
