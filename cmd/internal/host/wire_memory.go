package host

import (
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/memory"
	"github.com/shipmyagent/shipmyagent/persistence/jsonl"
	"github.com/shipmyagent/shipmyagent/persistence/memfile"
)

// Memories are the memories below a state folder. A host may run meanwhile.
func Memories(state string, store *jsonl.Store) *memfile.Store {
	return memfile.New(memfile.Options{State: state, ChatDir: store.ChatDir})
}

// memoryTools are the tools that read and change memories.
func (h *Host) memoryTools() []tool.Tool {
	o := memory.Options{Store: h.memory, Zone: h.zone}
	return []tool.Tool{memory.NewSearch(o), memory.NewUpsert(o)}
}
