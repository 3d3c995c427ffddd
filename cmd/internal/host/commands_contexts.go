package host

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/contexts"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// contextTools are the tools of contexts, or none if the settings say so.
func (h *Host) contextTools() []tool.Tool {
	if !h.opts.Settings.Settings.Context.Contexts.Enabled {
		return nil
	}
	return contexts.Tools(contexts.Options{Store: h.store, Zone: h.zone})
}

// contextsAnswer says what became of the orders new, contexts and load.
func (h *Host) contextsAnswer(a chat.ContextsAnswer, say speak) (string, bool) {
	switch a.Are {
	case chat.ContextsNew:
		return say("We start afresh. What was said before is archived: /contexts lists it, /load brings it back.",
			"已开始新的对话。之前的内容已归档：/contexts 查看，/load 恢复。")
	case chat.ContextsLoaded:
		return say("Back in: "+h.contextLine(a.Items[0]), "已恢复："+h.contextLine(a.Items[0]))
	case chat.ContextsListed:
		if len(a.Items) == 0 {
			return say("Nothing is archived yet. /new archives this conversation and starts afresh.", "还没有归档的对话。/new 会归档当前对话并重新开始。")
		}
		return say("Archived conversations, the newest first. /load with a number or a few words brings one back.\n\n"+h.contextLines(a.Items, true),
			"已归档的对话（最新在前）。发送 /load 加编号或关键词即可恢复。\n\n"+h.contextLines(a.Items, true))
	case chat.ContextsChoose:
		if len(a.Items) == 0 {
			return say("Nothing is archived yet.", "还没有归档的对话。")
		}
		return say("Which one do you mean? Send /load with its id.\n\n"+h.contextLines(a.Items, false),
			"你指的是哪一个？请发送 /load 加它的 id。\n\n"+h.contextLines(a.Items, false))
	case chat.ContextsEmpty:
		return say("Nothing has been said yet, so there is nothing to leave.", "当前对话还是空的。")
	case chat.ContextsBusy:
		return say("I am still working on something here. Send it again when I am done, or /stop first.", "我还在处理中。请等我完成后再发，或先发送 /stop。")
	case chat.ContextsFailed:
		return say("That did not work; everything is as it was. The operator finds the reason in the log.", "没有成功，对话保持原样。管理员可以查看日志中的原因。")
	case chat.ContextsOff:
	}
	return "", false
}

// contextLines are contexts a line each, by number or by id.
func (h *Host) contextLines(items []persistence.ContextItem, numbered bool) string {
	var out []string
	for i, item := range items {
		name := "`" + item.ID + "`"
		if numbered {
			name = fmt.Sprint(i+1, ".")
		}
		out = append(out, name+" "+h.contextLine(item))
	}
	return strings.Join(out, "\n")
}

func (h *Host) contextLine(item persistence.ContextItem) string {
	title := item.Title
	if title == "" {
		title = item.ID
	}
	return fmt.Sprintf("%s (%s, %d)", title, time.UnixMilli(item.ArchivedAt).In(h.zone).Format("2006-01-02 15:04"), item.MessageCount)
}
