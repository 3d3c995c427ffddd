package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// words are the texts of the REPL in one language.
type words struct {
	hello, help, waiting, joined, stopped, nothing, again, lost, back, elsewhere string
	failed, interrupted, answer, use, expired, withdrawn, compacted              string
	toolFailed, demo                                                             string

	chinese bool
}

func english() words {
	return words{
		hello:       "Chat %s with %s, %d messages so far. /help shows what can be typed.",
		help:        "Write a message and press Enter, also during an answer: it joins the answer at its next step.\n/stop stops the answer, /stop all drops waiting messages too, /quit leaves. Ctrl-C stops, twice leaves.",
		waiting:     "(waiting: joins the answer at its next step)",
		joined:      "(your message joined the answer)",
		stopped:     "(stopped)",
		nothing:     "(no answer is under way)",
		again:       "(Ctrl-C again leaves)",
		lost:        "(the connection is lost, trying again)",
		back:        "(connected again)",
		elsewhere:   "elsewhere",
		failed:      "(the answer failed)",
		interrupted: "(interrupted, outcome unknown)",
		answer:      "(answer yes or no, or /approve %[1]d or /deny %[1]d; without an answer it expires at %[2]s)",
		use:         "May I use %s with these values?",
		expired:     "(a request for approval has expired; nothing was executed)",
		withdrawn:   "(a request for approval was withdrawn; nothing was executed)",
		compacted:   "(earlier messages were condensed)",
		toolFailed:  "failed",
		demo:        "(demo model, not a real assistant: set OPENAI_API_KEY for a real one)",
	}
}

func chinese() words {
	return words{
		chinese:     true,
		hello:       "聊天 %s（%s），已有 %d 条消息。输入 /help 查看用法。",
		help:        "输入消息并回车；回答期间也可以继续输入，新消息会在下一步并入回答。\n/stop 停止回答，/stop all 同时丢弃等待的消息，/quit 退出。Ctrl-C 停止，连按两次退出。",
		waiting:     "（等待中：将在下一步并入回答）",
		joined:      "（你的消息已并入回答）",
		stopped:     "（已停止）",
		nothing:     "（没有正在进行的回答）",
		again:       "（再按一次 Ctrl-C 退出）",
		lost:        "（连接已断开，正在重试）",
		back:        "（已重新连接）",
		elsewhere:   "别处",
		failed:      "（回答失败）",
		interrupted: "（已中断，结果未知）",
		answer:      "（请回复“批准”或“拒绝”，也可以发送 /approve %[1]d 或 /deny %[1]d；%[2]s 前没有答复就失效）",
		use:         "可以用下面的参数使用 %s 吗？",
		expired:     "（一个审批请求已失效，未执行）",
		withdrawn:   "（一个审批请求已撤回，未执行）",
		compacted:   "（较早的消息已压缩）",
		toolFailed:  "失败",
		demo:        "（演示模型，不是真正的助手：设置 OPENAI_API_KEY 即可使用真实模型）",
	}
}

// request asks about a call: a sentence, exactly what would run, and how to answer.
func (w words) request(r journal.Request, call uimessage.Tool) string {
	said, values := r.Words, r.Exact
	if w.chinese && r.Chinese.What != "" {
		said = r.Chinese
	}
	if said.What == "" {
		said.What = fmt.Sprintf(w.use, call.Name)
		if values == "" { // a request from an older version
			values = tool.Lines(call.Input)
		}
	}
	lines := []string{fmt.Sprintf("  #%d: %s", r.N, oneLine(said.What+" "+said.Risk))}
	if values != "" {
		lines = append(lines, exact(values))
	}
	expires := time.UnixMilli(r.Expires).Local().Format("15:04")
	return strings.Join(append(lines, "  "+fmt.Sprintf(w.answer, r.N, expires)), "\n")
}

func oneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }
