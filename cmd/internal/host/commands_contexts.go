package host

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/contexts"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// contextTools are the tools of contexts, or none if the settings say so.
func (h *Host) contextTools() []tool.Tool {
	if !h.opts.Settings.Settings.Context.Contexts.Enabled {
		return nil
	}
	return contexts.Tools(contexts.Options{Store: h.store, Zone: h.zone})
}

// contextsAnswer says what became of the orders new, contexts and load.
func (h *Host) contextsAnswer(a machine.ContextsAnswer, say speak) (string, bool) {
	switch a.Are {
	case machine.ContextsNew:
		return say("We start afresh. What was said before is archived: /contexts lists it, /load 1 brings it back.",
			"已开始新的对话。之前的内容已归档：发送 /contexts 查看，发送 /load 1 恢复。")
	case machine.ContextsLoaded:
		return say("Back in: "+h.contextLine(a.Items[0], say), "已恢复："+h.contextLine(a.Items[0], say))
	case machine.ContextsListed:
		if len(a.Items) == 0 {
			return say("No conversation is archived yet. /new archives this one and starts afresh.", "还没有归档的对话。/new 会归档当前对话并重新开始。")
		}
		return say("Archived conversations, the newest first. To bring one back, send /load with its number or a few of its words.\n\n"+h.contextLines(a.Items, true, say),
			"已归档的对话（最新在前）。发送 /load 加编号或关键词即可恢复。\n\n"+h.contextLines(a.Items, true, say))
	case machine.ContextsChoose:
		if len(a.Items) == 0 {
			return say("No conversation is archived yet, so there is none to bring back.", "还没有归档的对话，因此没有可以恢复的内容。")
		}
		return say("Which one do you mean? Send /load with its id.\n\n"+h.contextLines(a.Items, false, say),
			"你指的是哪一个？请发送 /load 加它的 id。\n\n"+h.contextLines(a.Items, false, say))
	case machine.ContextsEmpty:
		return say("This conversation is still empty, so there is nothing to archive.", "当前对话还是空的，没有可以归档的内容。")
	case machine.ContextsBusy:
		return say("I am still working on something here. Send the command again when I am done, or send /stop first.", "我还在处理中。请等我完成后再发送这个命令，或先发送 /stop。")
	case machine.ContextsFailed:
		return say("That did not work; everything is as it was. The operator finds the reason in the log.", "没有成功，对话保持原样。管理员可以查看日志中的原因。")
	case machine.ContextsOff:
	}
	return "", false
}

// contextLines are contexts a line each, by number or by id.
func (h *Host) contextLines(items []journal.ContextItem, numbered bool, say speak) string {
	var out []string
	for i, item := range items {
		name := "`" + item.ID + "`"
		if numbered {
			name = fmt.Sprint(i+1, ".")
		}
		out = append(out, name+" "+h.contextLine(item, say))
	}
	return strings.Join(out, "\n")
}

func (h *Host) contextLine(item journal.ContextItem, say speak) string {
	title := item.Title
	if title == "" {
		title = item.ID
	}
	at := time.UnixMilli(item.ArchivedAt).In(h.zone).Format("2006-01-02 15:04")
	unit := "messages"
	if item.MessageCount == 1 {
		unit = "message"
	}
	text, _ := say(fmt.Sprintf("%s (%s, %d %s)", title, at, item.MessageCount, unit), fmt.Sprintf("%s（%s，%d 条消息）", title, at, item.MessageCount))
	return text
}
