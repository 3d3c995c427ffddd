package host

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat"
	extraction "github.com/shipmyagent/shipmyagent/actors/memory"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/memory"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/jsonl"
	"github.com/shipmyagent/shipmyagent/persistence/memfile"
)

// Memories are the memories below a state folder. A host may run meanwhile.
func Memories(state string) *memfile.Store {
	return memfile.New(memfile.Options{State: state, ChatDir: func(key messages.ChatKey) (string, error) { return jsonl.ChatDir(state, key) }})
}

// memoryTools are the tools that read and change memories.
func (h *Host) memoryTools() []tool.Tool {
	o := memory.Options{Store: h.memory, Zone: h.zone}
	return []tool.Tool{memory.NewSearch(o), memory.NewUpsert(o)}
}

// wireMemory lets facts be taken from chats. The demo model takes none.
func (h *Host) wireMemory(chats *chat.Options, runs run.Options) {
	s := h.opts.Settings.Settings.Context.Memory
	if !s.AutoExtractEnabled || h.demo() {
		return
	}
	o := extraction.Options{
		Model: runs.Model, Gate: runs.Gate, Store: h.memory, MinTurns: s.ExtractMinEntries, NoBackup: !s.BackupBeforeCompress, Zone: h.zone,
		Logger: h.opts.Logger,
	}
	if s.CompressOnOverflow {
		o.MaxChars = s.MaxPrimaryChars
	}
	chats.Memory = func() *actor.Props { return h.workers.with(extraction.Props(o)) }
	chats.MemoryTurns = s.ExtractMinEntries
}
