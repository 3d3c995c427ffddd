package host

import (
	"fmt"

	"github.com/shipmyagent/shipmyagent/actors/chat"
)

// chatCommands are the words with a slash that the host answers, beside stop.
// Any other goes to the model as text.
func chatCommands(contexts bool) []string {
	words := []string{"start", "help", "status", "allow", "stop", "compact", "approvals", "approve", "deny"}
	if contexts {
		words = append(words, "new", "contexts", "load")
	}
	return words
}

// command answers a person's order. The words are in the language of Agent.md.
func (h *Host) command(cmd chat.Command) (string, bool) {
	say := func(en, zh string) (string, bool) {
		if h.docs.chinese() {
			return zh, true
		}
		return en, true
	}
	switch cmd.Name {
	case "start":
		return say(
			fmt.Sprintf("Hello, this is %s. Just write to me; /help says what else there is.", h.project()),
			fmt.Sprintf("你好，我是 %s。直接发消息就可以，/help 查看其他用法。", h.project()))
	case "help":
		contexts := h.contextsHelp()
		return say(
			"Just write to me. What you send while I am working is taken in at my next step.\n\n"+
				"/stop ends what I am doing\n/stop all also drops the messages that wait\n/compact folds the older part of this chat into a summary\n"+contexts[0]+
				"/approvals shows what waits for a decision\n/approve N, /deny N decide it\n"+"/status says how things are\n/help shows this",
			"直接发消息就可以。我正在处理时发来的消息，会在下一步一起看到。\n\n"+
				"/stop 停止当前任务\n/stop all 同时丢弃排队的消息\n/compact 把较早的对话压缩成摘要\n"+contexts[1]+
				"/approvals 查看等待审批的请求\n/approve N、/deny N 同意或拒绝\n"+"/status 查看状态\n/help 显示帮助")
	case "status":
		return h.chatStatus(cmd, say)
	case "compact":
		return compactAnswer(cmd.Compaction, say)
	case "new", "contexts", "load":
		return h.contextsAnswer(cmd.Contexts, say)
	case "approvals", "approve", "deny": // the chat answers these itself, but not for words that somebody passes on
		return say("Only a message of your own decides about requests.", "只有你自己发送的消息才能审批请求。")
	case "allow":
		return say("This chat may use me.", "这个聊天可以使用我。")
	default:
		return "", false
	}
}

// compactAnswer says what became of the order to compact a chat.
func compactAnswer(c chat.Compaction, say func(en, zh string) (string, bool)) (string, bool) {
	switch c {
	case chat.CompactionUnderWay:
		return say("I am summing up the older part of this chat. Go on writing meanwhile.", "正在把较早的对话整理成摘要，可以继续发消息。")
	case chat.CompactionNothing:
		return say("There is not enough here to sum up yet.", "对话还不长，暂时不需要整理。")
	case chat.CompactionOff:
	}
	return say("Chats are not summed up here.", "这里没有开启对话整理。")
}

func (h *Host) chatStatus(cmd chat.Command, say func(en, zh string) (string, bool)) (string, bool) {
	doing, tut := "idle", "空闲"
	if cmd.Running {
		doing, tut = "working", "处理中"
	}
	return say(
		fmt.Sprintf("%s · %s\nmodel: %s\nmessages here: %d, taken in so far: %d", h.project(), doing, h.modelLabel(), cmd.Turns, cmd.Counts.Accepted),
		fmt.Sprintf("%s · %s\n模型：%s\n本聊天消息：%d，累计收到：%d", h.project(), tut, h.modelLabel(), cmd.Turns, cmd.Counts.Accepted))
}
