package host

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/agentcontext"
	chattools "github.com/shipmyagent/shipmyagent/adapters/tool/chat"
	"github.com/shipmyagent/shipmyagent/adapters/tool/clock"
	"github.com/shipmyagent/shipmyagent/adapters/tool/contexts"
	"github.com/shipmyagent/shipmyagent/adapters/tool/history"
	"github.com/shipmyagent/shipmyagent/adapters/tool/note"
	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	speechtools "github.com/shipmyagent/shipmyagent/adapters/tool/speech"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/chatfiles"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/cmd/internal/toolset"
	"github.com/shipmyagent/shipmyagent/cmd/internal/voices"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// toolbox provides the host's tools to runs.
type toolbox struct {
	*toolset.Set

	files chatfiles.Store // has full results
	// skilled reports whether the project has skills, which the system text then lists.
	skilled func() bool
	// left reports whether something that was said in a chat may have left its conversation.
	left func(key messages.ChatKey) bool
	log  *slog.Logger

	offering            sync.Mutex // the offered tools are replaced one change at a time
	own, spoken, served []tool.Tool
}

// offer offers the tools as they are after a change.
func (b *toolbox) offer(change func(*toolbox)) error {
	b.offering.Lock()
	defer b.offering.Unlock()
	change(b)
	return b.Replace(slices.Concat(b.own, b.spoken, b.served)...)
}

// newTools makes the tools. Their schemas are compiled when first used.
func (h *Host) newTools() (*toolbox, error) {
	box := sandboxes.New(h.opts.Settings.Settings.Permissions.Exec.Sandbox)
	workspace := h.workspace(box)
	sends := chattools.Options{Files: h.chatFiles().ChatFiles, Open: workspace.Open, Link: h.chatFiles().SentLink}
	tools := []tool.Tool{
		chattools.NewSend(sends), chattools.NewSendFile(sends), chattools.NewContact(h.deciders.ChatName),
		history.NewSearch(h.index, h.zone),
		agentcontext.NewLoad(h.runLog, h.zone),
	}
	tools = append(tools, h.memoryTools()...)
	tools = append(tools, h.contextTools()...)
	tools = append(tools, h.skillTools()...)
	tools = append(tools, h.fileTools(workspace)...)
	tools = append(tools, h.taskTools()...)
	runs, why := sandbox.Sandbox(box), ""
	if !box.Known() {
		runs, why = nil, "this system has no sandbox"
	}
	commands, err := h.shellTools(runs, why)
	if err != nil {
		return nil, err
	}
	tools = append(tools, commands...)
	h.voices = voices.New(voices.Options{
		State: h.opts.State, Sandbox: box, Mask: &h.mask, Budgets: h.budgets, Way: h.voiceWay, Logger: h.opts.Logger.With("component", "speech"),
	})
	h.cleanups.add("speech", h.voices.Close)
	spoken, err := h.voices.Tools(h.opts.Settings.Settings.Speech)
	if err != nil {
		return nil, &Failure{Kind: KindConfig, What: "speech cannot be set up", Why: err, Help: "sma config check --dir " + h.folder()}
	}
	if h.demo() {
		tools = append(tools, clock.New(h.zone), note.New(filepath.Join(h.opts.Dir, "notes.md"), h.zone))
	}
	set, err := toolset.New(slices.Concat(tools, spoken)...)
	if err != nil {
		return nil, &Failure{Kind: KindFailed, What: "the tools cannot be set up", Why: err}
	}
	b := &toolbox{
		Set: set, own: tools, spoken: spoken, files: h.chatFiles(), skilled: func() bool { set := h.skills.Current(); return len(set.Skills)+len(set.Problems) > 0 },
		left: func(key messages.ChatKey) bool {
			return !h.opts.Settings.Settings.Context.History.ArchiveOnCompact || h.archived(key)
		},
		log: h.opts.Logger.With("component", "tools"),
	}
	h.startMCP(b, box)
	return b, nil
}

// names are the tools offered to a run. Tools that could do nothing are left out. This depends on the configuration and
// on two things that change the prefix of requests anyway: the list of skills, which is in the system text, and whether
// a compaction or a switch of the context has archived something. Later are those that wait for a task or a process.
func (b *toolbox) names(key messages.ChatKey, toolEgress bool) (offered, later []string) {
	skilled, left, place, later := b.skilled(), b.left(key), query.BotOf(key), b.Later(key)
	return slices.DeleteFunc(b.Names(), func(name string) bool {
		switch name {
		case chattools.SendName:
			return !toolEgress
		case chattools.SendFileName:
			return toolEgress || place != nameWeb && place != nameCLI
		case skill.ListName, skill.LoadName:
			return !skilled
		case history.SearchName, agentcontext.LoadName, contexts.ListName, contexts.LoadName, contexts.RecallName:
			return !left
		}
		return slices.Contains(later, name)
	}), later
}

func (b *toolbox) Cap(ctx context.Context, call tool.Call, output json.RawMessage) json.RawMessage {
	out, err := tool.Cap{Keep: b.files.Keep(call.Run.ChatKey)}.Apply(ctx, call.Run.RunID+"-"+call.ID, output)
	if err != nil {
		b.log.WarnContext(ctx, "a result could not be stored whole", "chat_key", string(call.Run.ChatKey), "run_id", call.Run.RunID, "request_id", call.Run.RequestID, "tool", call.Name, "error", err)
	}
	return out
}

// contextTools are the tools of contexts, or none if they are disabled.
func (h *Host) contextTools() []tool.Tool {
	if !h.opts.Settings.Settings.Context.Contexts.Enabled {
		return nil
	}
	return contexts.Tools(contexts.Options{Store: h.store, Zone: h.zone})
}

// archived reports whether a part of a chat's conversation, or a whole one, was archived.
func (h *Host) archived(key messages.ChatKey) bool {
	dir, err := h.store.ChatDir(key)
	return err == nil && slices.ContainsFunc([]string{"messages/archive", "contexts/archive"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

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

// skillTools are the tools that list and load skills.
func (h *Host) skillTools() []tool.Tool {
	return skill.Tools(skill.Options{Catalog: h.skills, Store: agentdir.SkillStore(h.opts.State)})
}

// documentsOf are the current documents of a chat, with the skills.
func (h *Host) documentsOf(key messages.ChatKey) decision.Documents {
	d, set := h.docs.Of(key), h.skills.Current()
	d.Skill = set.Text
	if len(set.Skills) == 0 {
		return d
	}
	agreed, err := agentdir.SkillStore(h.opts.State).SkillApprovals(context.Background())
	if err != nil {
		agreed = nil // nothing counts as approved; loading a skill reports why
	}
	d.Skills = set.Overview(agreed)
	return d
}

// skillWatch logs each skill that is left out, once.
type skillWatch struct{ logged []string }

// look reads what has changed. It must not be called concurrently.
func (w *skillWatch) look(h *Host) {
	set := h.skills.Refresh()
	var now []string
	for _, p := range set.Problems {
		now = append(now, p.String())
		if !slices.Contains(w.logged, p.String()) {
			h.log.Warn("a skill was refused", "path", p.Path, "line", p.Line, "reason", p.What, "hint", p.Hint)
		}
	}
	w.logged = now
}

// replaceSpeech makes recordings and texts go where changed settings want them. If that is not possible, it returns
// false, and puts the previous settings of speech in place of the changed ones.
func (h *Host) replaceSpeech(s *config.Settings) bool {
	before := h.settings().Speech
	if reflect.DeepEqual(before, s.Speech) {
		return true
	}
	spoken, err := h.voices.Tools(s.Speech)
	if err == nil {
		err = h.tools.offer(func(b *toolbox) { b.spoken = spoken })
	}
	if h.reloads.News("speech", err) && err != nil {
		h.log.Warn("the changed settings of speech cannot be used; the previous ones stay in effect", "error", err)
	}
	if err != nil {
		s.Speech = before
	}
	return err == nil
}

// voiceWay is how recordings are delivered to the people of a chat.
func (h *Host) voiceWay(key messages.ChatKey) speechtools.Way {
	p := h.ports[query.BotOf(key)] // filled before the first message, not changed afterwards
	if p == nil || !p.adapter.Outbox {
		return speechtools.WayHere
	}
	switch caps := p.platform.Capabilities(); {
	case caps.Sends(platform.FileVoice):
		return speechtools.WayVoice
	case caps.Sends(platform.FileAudio):
		return speechtools.WayFile
	}
	return speechtools.WayText
}
