package host

import (
	"context"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// startRunLog makes the log of runs, which chats write to and agent_load_context
// reads. It ends after the actors do.
func (h *Host) startRunLog(context.Context) error {
	h.runLog = agentcontext.New(agentcontext.Options{
		Dir: filepath.Join(h.opts.State, "memory", "agent-context"), Folder: filestore.EncodeKey,
		Window: h.opts.Settings.Settings.Context.AgentContext.WindowEntries,
		Logger: h.opts.Logger.With("component", "run log"), Registerer: h.registry,
	})
	h.background("run log", h.runLog.Run)
	return nil
}
