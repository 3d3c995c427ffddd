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
}

// wordsFor picks the language of a person's client.
func wordsFor(language string) words {
	if strings.HasPrefix(strings.ToLower(language), "zh") {
		return words{
			Words:            notices.Chinese(),
			activated:        "好的，这个群的响应方式已更新。",
			activationHelp:   "请发送 /activation 加 mention（被 @、被回复、命令）、reply（被回复、命令）、commands（只响应命令）、always（所有消息）或 default。",
			activationFailed: "没有成功，响应方式保持原样。请稍后再试。",
		}
	}
	return words{
		Words:            notices.English(),
		activated:        "Done: that is what I listen to in this group now.",
		activationHelp:   "Send /activation with mention (mentions, replies, commands), reply (replies, commands), commands (commands alone), always (everything) or default.",
		activationFailed: "That did not work; nothing has changed. Please try again later.",
	}
}
