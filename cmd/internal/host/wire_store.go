package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/retention"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/chatfile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
)

// lockWait is how long a start waits for the state folder: a command that reads it
// has it for a moment, another host for good.
const lockWait = 700 * time.Millisecond

// openStore takes the state folder for this process alone.
func (h *Host) openStore(context.Context) error {
	if err := refuseLinks(h.opts.State); err != nil {
		return &Failure{Kind: KindFailed, What: "the state folder cannot be used", Why: err}
	}
	store, err := filestore.Open(filestore.Options{
		Dir: h.opts.State, LockWait: lockWait, Logger: h.opts.Logger.With("component", "store"), Registerer: h.registry,
		SearchText: h.opts.Settings.Settings.Context.Contexts.SearchTextMaxChars,
	})
	switch {
	case errors.Is(err, persistence.ErrLocked):
		return &Failure{
			Kind: KindRunning, What: "another sma works on " + h.opts.State,
			Help: "sma status --dir " + h.opts.Dir,
		}
	case err != nil:
		return &Failure{Kind: KindFailed, What: "the state folder cannot be used", Why: err, Help: "sma doctor --dir " + h.opts.Dir}
	}
	h.store = store
	h.files = chatfile.New(store.ChatDir)
	h.preferences = agentdir.NewPreferences(h.files, h.log)
	h.memory = query.Memories(h.opts.State)
	h.fires = taskfile.NewLog(h.opts.State)
	h.cleanups.add("store", func(context.Context) error { return store.Close() })
	return nil
}

// readDocuments reads what makes the folder an agent.
func (h *Host) readDocuments(context.Context) error {
	switch err := h.docs.Load(); {
	case errors.Is(err, agentdir.ErrNoAgent):
		return &Failure{Kind: KindConfig, What: "there is no Agent.md in " + h.opts.Dir, Help: "sma init " + h.opts.Dir}
	case err != nil:
		return &Failure{Kind: KindConfig, What: "the project's documents cannot be read", Why: err, Help: "sma doctor --dir " + h.opts.Dir}
	default:
		return nil
	}
}

func (h *Host) startAudit(context.Context) error {
	h.audit = audit.New(h.opts.State, h.opts.Logger.With("component", "audit"), h.registry, func(err error) {
		h.log.Error("the audit log of approvals cannot be written", "error", err)
	})
	h.background("audit log", h.audit.Run)
	h.cleanups.add("approval log", func(context.Context) error { return h.audit.Close() })
	return nil
}

// watchFiles follows the documents and settings. It looks once the folders are
// watched: what changed since the start read them is not heard of.
func (h *Host) watchFiles() {
	var skills skillWatch
	look := func() {
		h.docs.Reload()
		skills.look(h)
		h.reloadSettings()
		h.tasksChanged()
	}
	h.background("file watch", func(ctx context.Context) {
		watch(ctx, slices.Concat(h.docs.Folders(), h.skills.Folders(), h.taskFolders()), h.log, look, look)
	})
}

// project is what people call the project.
func (h *Host) project() string {
	if name := h.opts.Settings.Settings.Name; name != "" {
		return name
	}
	return filepath.Base(h.opts.Dir)
}

// refuseLinks refuses a state folder in which a folder is a symbolic link: what belongs
// to the agent would be read from elsewhere, and written there. It looks two folders
// deep. Those of chats, of which there may be many, are looked at when a chat is opened,
// and those of their files when one is stored.
func refuseLinks(state string) error { return linksBelow(state, 2) }

func linksBelow(dir string, levels int) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, which no part of the state folder may be; move what it leads to in its place", at)
		}
		if e.IsDir() && levels > 1 && !slices.Contains([]string{"chat", "open", "logs"}, e.Name()) {
			if err := linksBelow(at, levels-1); err != nil {
				return err
			}
		}
	}
	return nil
}

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

// tellSystemShare warns once, at the start, of a system text that takes too much.
func (h *Host) tellSystemShare(context.Context) error {
	share, err := agentdir.SystemShareOf(h.opts.Dir, h.opts.State, h.opts.Settings.Settings)
	if err == nil && share.TooLarge() {
		h.log.Warn("the system text takes more than its share of what a chat may send, and compaction cannot shorten it; shorten it, or raise context.history.maxInputTokensApprox",
			"tokens", share.System, "budget", share.Budget, "window", share.Window, "largest", share.Largest, "largest_tokens", share.Most)
	}
	return nil // what cannot be read was reported where it is read
}

// startRetention removes old files from now on, if the settings say how old.
func (h *Host) startRetention(context.Context) error {
	if keep := h.opts.Settings.Settings.Retention; keep != (config.Retention{}) {
		h.background("retention", retention.New(h.opts.State, keep, h.log).Run)
	}
	return nil
}

// commands answers the commands of people.
func (h *Host) commands() *commands.Commands {
	return commands.New(commands.Options{
		Contexts: h.opts.Settings.Settings.Context.Contexts.Enabled, Project: h.project(), Model: h.modelLabel(), State: h.opts.State, Zone: h.zone,
		Logger: h.log, Chinese: h.docs.Chinese, Preferences: h.preferences, Role: h.role, MayDecide: h.mayDecide, Troubles: h.modelTroubles,
	})
}
