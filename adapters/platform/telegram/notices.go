package telegram

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

// words are the texts in one language: those of all platforms, and those of this one.
type words struct {
	notices.Words
	activated, activationHelp, activationFailed string
	// listening describes what the bot listens to, by the word in the settings; the entry "" means
	// that the settings decide.
	listening map[string]string
	// privacy: the service does not deliver group messages to the bot.
	privacy string
}

// at returns what follows the name of a command in words for a chat: in groups the name of the bot.
func (p *Platform) at(chat string) string {
	if name := p.Username(); name != "" && messages.IsGroup("", chat) {
		return "@" + name
	}
	return ""
}

// wordsFor picks the language by that of a person's client.
func wordsFor(language, at string) words {
	if strings.HasPrefix(strings.ToLower(language), "zh") {
		return words{
			Words:            notices.Chinese(at),
			activated:        "好的，我在这个群里现在响应：{}。",
			listening:        map[string]string{"": "设置中指定的消息", platform.GroupsMention: "@、对我的回复和命令", platform.GroupsReply: "对我的回复和命令", platform.GroupsCommands: "命令", platform.GroupsAll: "所有消息"},
			activationHelp:   "请选择我在这个群里响应什么：发送 /activation" + at + " 加上 mention（@、回复和命令）、reply（回复和命令）、commands（只有命令）、always（所有消息）或 default（按设置）。",
			activationFailed: "没有成功，响应方式保持原样。请稍后再试。",
			privacy:          "但隐私模式已开启：除非我是这个群的管理员，否则 Telegram 只把 @、回复和命令给我。请向 @BotFather 发送 /setprivacy，然后把我移出群再加回来。",
		}
	}
	return words{
		Words:            notices.English(at),
		activated:        "Done. In this group I now listen to {}.",
		listening:        map[string]string{"": "what the settings say", platform.GroupsMention: "mentions, replies to me and commands", platform.GroupsReply: "replies to me and commands", platform.GroupsCommands: "commands alone", platform.GroupsAll: "all messages"},
		activationHelp:   "Choose what I listen to in this group. Send /activation" + at + " with one of these words: mention (mentions, replies and commands), reply (replies and commands), commands (commands alone), always (all messages) or default (what the settings say).",
		activationFailed: "That did not work; nothing has changed. Please try again later.",
		privacy:          "But privacy mode is on: unless I administer this group, Telegram gives me mentions, replies and commands alone. Send /setprivacy to @BotFather, then take me out of the group and in again.",
	}
}
