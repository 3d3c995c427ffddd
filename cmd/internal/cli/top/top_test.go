package top

import (
	"strconv"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestCounted(t *testing.T) {
	var lines []audit.Line
	for chat := range 7 {
		for range chat + 1 {
			lines = append(lines, audit.Line{Event: "tool", ChatKey: "c" + strconv.Itoa(chat), Name: "x"})
		}
	}
	lines = append(lines,
		audit.Line{Event: "model", ChatKey: "c5", Name: "b", Result: "stop"}, audit.Line{Event: "model", ChatKey: "c0", Name: "a", Result: "error"},
		audit.Line{Event: "model", ChatKey: "c0", Name: "b", Result: "error"})
	models, chats := counted(lines)
	stdtest.Diff(t, "models", []modelLine{{"a", 1, 1}, {"b", 2, 1}}, models)
	stdtest.Diff(t, "chats", []chatLine{{"c5", "", 7}, {"c6", "", 7}, {"c4", "", 5}, {"c3", "", 4}, {"c0", "", 3}}, chats)
}

func TestText(t *testing.T) {
	s := snapshot{
		State: "ready", Project: "bot\x1b[2J", PID: 7, UptimeS: 60, MemoryBytes: 50 << 20, Chats: 3, Runs: 2, Calls: 1, Waiting: 4, Outbox: 5, Approvals: 6,
		Models: []modelLine{{"m", 10, 1}}, Busiest: []chatLine{{"telegram-chat-42", "Ann", 9}},
	}
	for lang, want := range map[string]string{
		"en_US": "bot[2J: ready, process 7, up 1 minute, memory 50 MB\n" +
			"chats in memory 3   runs 2   model calls 1, waiting 4   to be sent 5   approvals 6\n" +
			"\nmodels, last ten minutes    calls  failed\n  m                            10       1\n" +
			"\nbusiest chats               calls of models and tools\n  telegram-chat-42 (Ann)        9\n",
		"zh_CN": "bot[2J：就绪，进程 7，已运行 1 分钟，内存 50 MB\n" +
			"内存中的聊天 3   运行 2   模型调用 1，排队 4   待发送 5   待审批 6\n" +
			"\n最近十分钟的模型            调用   失败\n  m                            10       1\n" +
			"\n最忙的聊天                  模型和工具的调用\n  telegram-chat-42 (Ann)        9\n",
	} {
		a := &console.Console{Env: func(name string) (string, bool) { return lang, name == "LANG" }}
		stdtest.Diff(t, lang, want, s.text(a))
	}
}
