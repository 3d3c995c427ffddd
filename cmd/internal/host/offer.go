package host

import (
	"context"
	"maps"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/toolset"
	"github.com/shipmyagent/shipmyagent/messages"
)

// offer answers what the next run of a chat would be offered. Without a chat, it is a new one of the first platform that
// people reach from elsewhere. The tokenizer's tables are not kept.
func (c *socket) offer(_ context.Context, q query.Asked) (toolset.Offer, error) {
	h := c.host
	for _, name := range slices.Sorted(maps.Keys(h.ports)) {
		if q.ChatKey == "" && name != nameAPI && name != nameCLI {
			q.ChatKey = messages.ChatKey(name + "-chat-new")
		}
	}
	p := h.ports[query.BotOf(q.ChatKey)]
	names, _ := h.tools.names(q.ChatKey, p != nil && p.adapter.ToolEgress)
	return h.tools.Offer(q.ChatKey, names, compaction.NewCount())
}
