package telegram

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
)

// words are what people read, in one language: what all platforms say, and what this
// one alone does.
type words struct {
	notices.Words
	activated, activationHelp, activationFailed string
	// privacy: the service keeps messages of groups from the bot.
	privacy string
}

// wordsFor picks the language of a person's client.
func wordsFor(language string) words {
	if strings.HasPrefix(strings.ToLower(language), "zh") {
		return words{
			Words:            notices.Chinese(),
			activated:        "好的，这个群的响应方式已更新。",
			activationHelp:   "请发送 /activation 加 mention（被 @、被回复、命令）、reply（被回复、命令）、commands（只响应命令）、always（所有消息）或 default。",
			activationFailed: "没有成功，响应方式保持原样。请稍后再试。",
			privacy:          "但隐私模式已开启：除非我是这个群的管理员，否则 Telegram 只把 @、回复和命令给我。请向 @BotFather 发送 /setprivacy，然后把我移出群再加回来。",
		}
	}
	return words{
		Words:            notices.English(),
		activated:        "Done: that is what I listen to in this group now.",
		activationHelp:   "Send /activation with mention (mentions, replies, commands), reply (replies, commands), commands (commands alone), always (everything) or default.",
		activationFailed: "That did not work; nothing has changed. Please try again later.",
		privacy:          "But privacy mode is on: unless I administer this group, Telegram gives me mentions, replies and commands alone. Send /setprivacy to @BotFather, then take me out of the group and in again.",
	}
}
