package host

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// whyAnswer explains from the ledger what became of a message.
func whyAnswer(e *journal.LedgerEntry, zone *time.Location, say speak) (string, bool) {
	if e == nil {
		return say("I know of no message here that went without an answer of its own.", "这里没有未单独回复的消息。")
	}
	en, zh := fateWords(*e)
	who := e.Username
	if who == "" {
		who = e.UserID
	}
	who = platform.Inert(who)
	at := time.UnixMilli(e.TS).In(zone).Format("2006-01-02 15:04:05")
	return say(
		fmt.Sprintf("The message of %s from %s: %s\n(record: %s)", at, who, en, recordOf(*e)),
		fmt.Sprintf("%s 来自 %s 的消息：%s\n（记录：%s）", at, who, zh, recordOf(*e)))
}

// recordOf are the entry's own words, for those who look further.
func recordOf(e journal.LedgerEntry) string {
	out := []string{string(e.Fate)}
	for _, m := range []struct{ name, value string }{{"reason", e.Reason}, {"message", e.MessageID}, {"request", e.RequestID}, {"run", e.RunID}} {
		if m.value != "" {
			out = append(out, m.name+" "+m.value)
		}
	}
	return strings.Join(out, ", ")
}

func fateWords(e journal.LedgerEntry) (en, zh string) {
	switch e.Fate {
	case journal.FateMerged:
		return fmt.Sprintf("it came while I was working and was taken in at step %d of that work; the answer covers it.", e.Step),
			fmt.Sprintf("到达时我正在处理别的消息，已在第 %d 步一并看到，回答里包含了它。", e.Step)
	case journal.FateStopped:
		if e.Reason == "taken_back" {
			return "it was recalled before I had read it.", "它在我读到之前被撤回了。"
		}
		return "the work on it was stopped.", "处理被停止了。"
	case journal.FateExpired:
		return "it waited too long.", "等待时间太长，已失效。"
	case journal.FateAnswered:
		if e.Reason == "command" || e.Reason == "stop" {
			return "it was a command, which I answered myself.", "这是一条命令，我已直接回复。"
		}
		return "it was answered.", "已经回答过了。"
	case journal.FateIgnored, journal.FateDeclined:
	}
	if w, ok := gateWords()[e.Reason]; ok {
		return w[0], w[1]
	}
	if e.Fate == journal.FateIgnored {
		return "it was not for me.", "它不是发给我的。"
	}
	return "it was not taken.", "没有接收。"
}

// gateWords say what the reasons of the ledger mean, in English and Chinese.
func gateWords() map[string][2]string {
	return map[string][2]string{
		"unaddressed":       {"it did not speak to me, and in this group I answer only what does.", "它没有叫我，在这个群里我只响应对我说的消息。"},
		"not_paired":        {"my owner has not let its sender in.", "主人还没有放行它的发送者。"},
		"group_not_allowed": {"this group may not use me yet; my owner can send /allow here.", "这个群还没有开放，主人可以在这里发送 /allow。"},
		"owner_only":        {"only my owner may give that command.", "只有主人可以使用那个命令。"},
		"taken_back":        {"somebody recalled a message.", "有人撤回了一条消息。"},
		"bot":               {"a bot wrote it.", "它来自一个机器人。"},
		"bot_loop":          {"it was one more message between bots; I end such talks after a while.", "这是机器人之间的对话，我会适时结束。"},
		"anonymous":         {"it was sent in the name of a chat, so I cannot tell who wrote it.", "它以群的名义匿名发送，无法确认发送者。"},
		"channel":           {"it is a post of a channel.", "它是频道消息。"},
		"service":           {"it is a notice of the platform, without words.", "它是平台的系统消息，没有文字。"},
		"unchanged":         {"that edit changed nothing that I can see.", "这次编辑没有改变我能看到的内容。"},
		"live_location":     {"it only updates a shared location.", "它是共享位置的更新。"},
		"other_bot":         {"it was a command for another bot.", "它是发给另一个机器人的命令。"},
		"lane_full":         {"too many messages were waiting here.", "等待处理的消息太多。"},
		"parked":            {"I could not handle it and put it aside; the operator finds it with sma outbox list.", "我无法处理它，已搁置；管理员可以用 sma outbox list 查看。"},
	}
}
