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

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/backup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/retention"
	"github.com/shipmyagent/shipmyagent/cmd/internal/traces"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/chatfile"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// lockWait is how long a start waits for the lock of the state folder: a command holds it for a moment only, another
// host as long as it runs.
const lockWait = 700 * time.Millisecond

// unwritable is the failure of a start, whichever step it was, because of the disk of the state folder. Other failures stay
// as they are.
func (h *Host) unwritable(err error) error {
	if what := checkup.DiskFault(err); what != "" {
		return &Failure{Kind: KindFailed, What: "the disk of " + h.opts.State + " " + what, Why: err, Help: checkup.Writable(h.opts.State, err)}
	}
	return err
}

// openStore locks the state folder for this process.
func (h *Host) openStore(context.Context) error {
	if backup.Unfinished(h.opts.State) {
		return &Failure{Kind: KindFailed, What: "a restore into this folder has not ended", Help: "sma restore BACKUP --dir " + h.folder()}
	}
	if err := checkup.MayWrite(h.opts.State); err != nil {
		return &Failure{Kind: KindFailed, What: "the state folder cannot be written", Why: err, Help: checkup.Writable(h.opts.State, err)}
	}
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
			Help: "sma status --dir " + h.folder(),
		}
	case err != nil:
		return &Failure{Kind: KindFailed, What: "the state folder cannot be used", Why: err, Help: "sma doctor --dir " + h.folder()}
	}
	h.store = store
	h.files = chatfile.New(store.ChatDir)
	h.preferences = agentdir.NewPreferences(h.files, h.log)
	h.memory = query.Memories(h.opts.State)
	h.fires = taskfile.NewLog(h.opts.State)
	h.cleanups.add("store", func(context.Context) error { return store.Close() })
	return nil
}

// folder is the project's folder as a word of a command for people.
func (h *Host) folder() string { return checkup.ShellWord(h.opts.Dir) }

// readDocuments reads the documents that define the agent.
func (h *Host) readDocuments(context.Context) error {
	switch err := h.docs.Load(); {
	case errors.Is(err, agentdir.ErrNoAgent):
		return &Failure{Kind: KindConfig, What: "there is no Agent.md in " + h.opts.Dir, Help: "sma init " + h.folder()}
	case err != nil:
		return &Failure{Kind: KindConfig, What: "the project's documents cannot be read", Why: err, Help: "sma doctor --dir " + h.folder()}
	default:
		return nil
	}
}

func (h *Host) startAudit(context.Context) error {
	h.audit = audit.New(h.opts.State, h.opts.Logger.With("component", "audit"), h.registry, func(err error) {
		h.log.Error("the audit log of approvals cannot be written", "error", err)
	})
	h.background("audit log", h.audit.Run)
	h.noted = h.audit.Add
	if to := h.opts.Settings.Settings.Traces; to.Endpoint != "" {
		exporter := traces.New(traces.Options{Traces: to, Project: h.project(), Version: h.opts.Version, Logger: h.opts.Logger.With("component", "traces"), Registerer: h.registry})
		h.background("traces", exporter.Run)
		h.noted = func(e decision.AuditEntry) { h.audit.Add(e); exporter.Add(e) }
	}
	h.cleanups.add("approval log", func(context.Context) error { return h.audit.Close() })
	return nil
}

// watchFiles reloads the documents, skills, settings and tasks after changes. Skills that the host leaves out are logged
// at once.
func (h *Host) watchFiles() {
	var skills skillWatch
	look := func() {
		h.docs.Reload()
		skills.look(h)
		h.reloadSettings()
		h.tasksChanged()
	}
	h.background("file watch", func(ctx context.Context) {
		skills.look(h)
		watch(ctx, slices.Concat(h.docs.Folders(), h.skills.Folders(), []string{taskfile.New(h.opts.State, h.zone).Dir()}), h.log, look)
	})
}

// project is what people call the project.
func (h *Host) project() string {
	if name := h.opts.Settings.Settings.Name; name != "" {
		return name
	}
	return filepath.Base(h.opts.Dir)
}

// refuseLinks refuses a state folder in which a folder is a symbolic link, because the agent's data would then be
// read and written elsewhere. It checks two levels. The folders of chats, which may be many, are checked when a chat
// is opened, and those of their files when a file is stored.
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
			return fmt.Errorf("%s is a symbolic link, which no part of the state folder may be; move its target to its place", at)
		}
		if e.IsDir() && levels > 1 && !slices.Contains([]string{"chat", "open", "logs"}, e.Name()) {
			if err := linksBelow(at, levels-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// startRunLog makes the log of runs, which chats write and agent_load_context reads. It ends after the actors.
func (h *Host) startRunLog(context.Context) error {
	h.runLog = agentcontext.New(agentcontext.Options{
		Dir: filepath.Join(h.opts.State, "memory", "agent-context"), Folder: chatpath.Encode,
		Window: h.opts.Settings.Settings.Context.AgentContext.WindowEntries,
		Logger: h.opts.Logger.With("component", "run log"), Registerer: h.registry,
	})
	h.background("run log", h.runLog.Run)
	return nil
}

// tellSystemShare logs a warning at the start if the system text is too large.
func (h *Host) tellSystemShare(context.Context) error {
	if share := h.docs.SystemShare(h.skills.Current(), h.opts.Settings.Settings); share.TooLarge() {
		h.log.Warn("the system text takes more than its share of what a chat may send, and compaction cannot shorten it; shorten it, or raise context.history.maxInputTokensApprox",
			"tokens", share.System, "budget", share.Budget, "window", share.Window, "largest", share.Largest, "largest_tokens", share.Most)
	}
	return nil
}

// startRetention removes old files periodically, if the settings limit their age.
func (h *Host) startRetention(context.Context) error {
	h.background("retention", retention.New(h.opts.State, h.opts.Dir, func() config.Retention { return h.settings().Retention }, h.eraser().ExpireRuns, h.log).Run)
	return nil
}

// commands answers the slash commands of people.
func (h *Host) commands() *commands.Commands {
	return commands.New(commands.Options{
		Contexts: h.opts.Settings.Settings.Context.Contexts.Enabled, Project: h.project(), Models: h.modelChoices, State: h.opts.State, TasksChanged: h.tasksChanged, Zone: h.zone,
		Logger: h.log, Chinese: h.docs.Chinese, Preferences: h.preferences, Role: h.deciders.Role, MayDecide: h.deciders.May, Health: h.models, Spent: h.budgets.Today, Usage: h.budgets.Report, More: h.budgets.More,
	})
}

// forgetWait bounds one deletion.
const forgetWait = time.Minute

// finishForgetting completes the deletions that were in progress when the last process ended.
func (h *Host) finishForgetting(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetWait)
	defer cancel()
	e := query.NewEraser(h.opts.State, h.store, h.zone)
	err := e.FinishAll(ctx, func(f journal.Forgetting, err error) {
		if err != nil {
			h.log.Error("a chat could not be deleted completely", "chat_key", string(f.ChatKey), "error", err)
			return
		}
		h.log.Info("a chat was deleted whose deletion an earlier process had begun", "chat_key", string(f.ChatKey))
	})
	if err != nil {
		h.log.Error("interrupted deletions of chats could not be continued", "error", err)
	}
	return nil
}

// eraser deletes chats while the host runs.
func (h *Host) eraser() *query.Eraser {
	e := query.NewEraser(h.opts.State, h.store, h.zone)
	e.Fires, e.Index, e.Runs = h.fires, h.index, h.runLog.ForgetRuns
	if h.vectors != nil {
		e.Vectors = h.vectors
	}
	return e
}

// forgetChat deletes a chat. The chat calls it after closing its store.
func (h *Host) forgetChat(f journal.Forgetting) error {
	ctx, cancel := context.WithTimeout(context.Background(), forgetWait)
	defer cancel()
	related, err := h.eraser().Forget(ctx, f)
	for _, key := range related { // chats of their own, which may be active
		h.system.Root.Send(h.router, messages.ForgetChat{ChatKey: key, By: f.By})
	}
	h.tasksChanged()
	return err
}

// mayForget reports whether somebody may delete a chat: people their private chats, and in a group those who manage
// it.
func (h *Host) mayForget(cmd decision.Command) bool {
	return h.commands().MayManage(cmd, timetable.Task{})
}
