package host

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	extraction "github.com/shipmyagent/shipmyagent/actors/memory"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/memory"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
)

// memoryTools are the tools that read and change memories.
func (h *Host) memoryTools() []tool.Tool {
	o := memory.Options{Store: h.memory, Zone: h.zone, Meaning: h.meaning}
	return []tool.Tool{memory.NewSearch(o), memory.NewUpsert(o)}
}

// makeMeaning lets memories be searched by meaning, if an embedding model is set. It contacts no service, and opens
// nothing before the first search.
func (h *Host) makeMeaning() {
	name := h.opts.Settings.Settings.Context.Memory.EmbeddingModel
	if name == "" {
		return
	}
	transport, log := provider.NewTransport(), h.opts.Logger.With("component", "memory")
	cache := query.NewVectors(h.opts.State, log)
	h.cleanups.add("cache of vectors", func(context.Context) error {
		transport.CloseIdleConnections()
		return cache.Close()
	})
	h.meaning, h.vectors = memory.NewMeaning(cache, log), cache.Discard
	h.embedAt = func(llm config.LLM) error {
		embedder, err := provider.NewEmbedder(endpoints.Embeddings(llm, name), transport, h.budgets)
		if err == nil {
			h.meaning.Use(embedder, llm.BaseURL+" "+name)
		}
		return err
	}
}

// wireMemory lets facts be extracted from chats, but not with the demo model.
func (h *Host) wireMemory(chats *chat.Options, s config.Memory, llm config.LLM) {
	chats.MemoryGroups = decision.MemoryGroups(s.Groups)
	if !s.AutoExtractEnabled || h.demo() {
		return
	}
	o := extraction.Options{
		Model: h.runs.Model, Gate: h.runs.Gate, Store: h.memory, Archives: h.store, MinTurns: s.ExtractMinEntries, NoBackup: !s.BackupBeforeCompress, Zone: h.zone,
		Logger: h.opts.Logger, Deadline: within(extraction.DefaultDeadline, llm),
	}
	if s.CompressOnOverflow {
		o.MaxChars = s.MaxPrimaryChars
	}
	chats.Memory = func() *actor.Props { return h.workers.With(extraction.Props(o)) }
	chats.MemoryTurns = s.ExtractMinEntries
}

func (h *Host) makeIndex(context.Context) error {
	h.index = query.NewIndex(h.opts.State, h.store, h.opts.Logger)
	h.cleanups.add("search index", func(context.Context) error { return h.index.Close() })
	h.makeMeaning()
	return nil
}
