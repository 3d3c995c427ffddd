package machine

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// notice is what the host says to people by itself, in English and in Chinese.
type notice [2]string

// The notices about commands and the lane.
func noticeUnknownCommand() notice {
	return notice{"I do not know this command. /help lists the commands.", "我不认识这个命令。发送 /help 查看所有命令。"}
}

func noticeObeyed() notice {
	return notice{"This command was carried out already.", "这个命令已经执行过了。"}
}

func noticeApproved() notice { return notice{"Approved.", "已批准。"} }

func noticeDenied() notice { return notice{"Denied.", "已拒绝。"} }

func noticeStopped() notice { return notice{"Stopped.", "已停止。"} }

func noticeNothingToStop() notice {
	return notice{"I am not working on anything, so there is nothing to stop.", "我现在没有在处理消息，不需要停止。"}
}

func noticeLaneFull() notice {
	return notice{
		"Too many messages are waiting here; I could not take the last ones. Please send them again later.",
		"等待处理的消息太多，最近的几条没有收下，请稍后再发。",
	}
}

// noticeUnheard words why a voice message was not understood, by the reasons of
// package speech.
func noticeUnheard(reason string) notice {
	switch reason {
	case "long":
		return notice{"I did not listen to this voice message: it is too long. A shorter one works, or text.", "这条语音太长，我没有听。请发短一些的，或者发文字。"}
	case "empty":
		return notice{"I heard no words in this voice message. Please say it again, or write it.", "这条语音里没有听到话，请再说一次，或者发文字。"}
	case "format", "refused":
		return notice{"I cannot listen to this kind of recording. Please write it, or send a voice message.", "这种录音我听不了，请发文字或普通语音。"}
	case "late", "rate", "server", "network":
		return notice{
			"I could not listen to this voice message: the service for that does not answer well at the moment. Please send it again later, or write it.",
			"语音识别服务暂时不可用，这条语音我没有听到。请稍后再发，或者发文字。",
		}
	}
	return notice{
		"I could not listen to this voice message: something is wrong with how this is set up here. Please write it; the operator finds the reason in the log.",
		"这条语音我没能听到：这里的语音识别没有设置好。请发文字；管理员可以查看日志中的原因。",
	}
}

func noticeBots() notice {
	return notice{
		"I stop here, since only bots are talking. I go on when a person writes.",
		"我先停在这里：一直是机器人在互相回答。有人发消息我就继续。",
	}
}

// failure words the reason of a run that ended without an answer.
func failure(reason string) notice {
	switch reason {
	case "auth":
		return notice{
			"I cannot reach my model: its key was refused. The operator has to set a valid key (llm.apiKey).",
			"无法使用模型：密钥被拒绝。请管理员设置有效的密钥（llm.apiKey）。",
		}
	case "quota":
		return notice{
			"I cannot use my model: its account has nothing left to pay with. The operator has to look at the account's balance.",
			"无法使用模型：账户余额或额度已用完。请管理员检查账户。",
		}
	case "bad_request":
		return notice{
			"My model refused this request, and the same one would be refused again. The operator finds the reason in the log.",
			"模型拒绝了这个请求，重试也不会成功。请管理员查看日志中的原因。",
		}
	case "not_found":
		return notice{
			"I cannot reach my model: its name or address is unknown. The operator has to check llm.model and llm.baseUrl.",
			"无法使用模型：名称或地址不存在。请管理员检查 llm.model 和 llm.baseUrl。",
		}
	case "address":
		return notice{
			"I cannot reach my model: something else answers at its address. The operator has to check llm.baseUrl, which usually ends in /v1.",
			"无法使用模型：它的地址上不是模型服务。请管理员检查 llm.baseUrl，它通常以 /v1 结尾。",
		}
	case "too_long":
		return notice{"This conversation has become too long for my model. /compact sums up its older part; then ask again.", "这段对话对模型来说太长了。请发送 /compact 压缩较早的部分，然后再问一次。"}
	case "rate", "overloaded":
		return notice{"My model is overloaded at the moment. Please try again in a minute.", "模型暂时过载，请稍后再试。"}
	case "idle":
		return notice{"My model did not answer in time. Please try again.", "模型没有及时回答，请重试。"}
	case "network":
		return notice{"I could not get an answer from my model: the connection failed. Please try again.", "没有收到模型的回答：连接失败，请重试。"}
	case "cut":
		return notice{
			"I could not get a whole answer from my model: it broke off or could not be read. Please try again.",
			"没有得到模型的完整回答：回答中途断开或无法读取，请重试。",
		}
	case messages.ReasonFiltered, messages.ReasonRefused:
		return notice{"My model refused to answer this.", "模型拒绝回答这个内容。"}
	case messages.ReasonLength:
		return notice{
			"There is no answer: my model reached its length limit before it had written one. Please ask for something shorter; the operator can raise the limit (llm.maxOutputTokens).",
			"没有得到回答：模型还没写出答案就达到了长度上限。请把问题缩小一些；管理员可以提高上限（llm.maxOutputTokens）。",
		}
	case messages.ReasonEmpty:
		return notice{"There is no answer: my model sent an empty one twice. Please ask again, perhaps in other words.", "没有得到回答：模型两次都返回了空内容。请再试一次，或换个说法。"}
	case messages.ReasonOnlyThoughts:
		return notice{
			"There is no answer: my model thought about this twice and wrote none. Please ask again, perhaps in other words.",
			"没有得到回答：模型思考了两次，都没有写出答案。请再试一次，或换个说法。",
		}
	case messages.ReasonUnfinished:
		return notice{"There is no answer: my model ended without finishing one. Please ask again.", "没有得到回答：模型没有写完就结束了。请再试一次。"}
	case "steps", "stop":
		return notice{"I stopped: this took more steps than I may take for one answer. Ask me to go on if it still matters.", "已停止：步骤数超过了一次回答的上限。如仍需要，可以让我继续。"}
	case "equal_calls":
		return notice{"I stopped: I kept making the same tool call without getting further.", "已停止：我在重复同样的工具调用，没有进展。"}
	case "schema_failures":
		return notice{"I stopped: I kept calling tools in ways that they cannot take.", "已停止：我多次用错误的参数调用工具。"}
	case journal.ReasonParked:
		return notice{
			"I could not handle a message here and put it aside; everything else goes on. The operator finds it with sma outbox list.",
			"有一条消息我无法处理，已搁置，其他消息不受影响。管理员可以用 sma outbox list 查看。",
		}
	case "too_old":
		return notice{
			"I was interrupted while working on this and did not go on, since it is a while ago. Please ask again if it still matters.",
			"处理时被中断，时间已久，所以没有继续。如仍需要请再发一次。",
		}
	case "recovery":
		return notice{"I was interrupted several times while working on this and gave it up. Please ask again.", "处理时多次被中断，已放弃。请再发一次。"}
	}
	return notice{"Something went wrong here; I could not finish. Please try again.", "出错了，没能完成，请重试。"}
}

// notice is what people read about the end of a run whose own part of the message is
// m, where that is not a whole answer; empty: nothing.
func (c *Chat) notice(result journal.Result, reason string, m uimessage.Message) string {
	var words notice
	switch result {
	case journal.ResultFailed, journal.ResultInterrupted:
		words = failure(reason)
	case journal.ResultDone:
		words = notWhole(reason, c.lastWords(m, result) != "")
	case journal.ResultStopped, journal.ResultWaiting, journal.ResultRewound,
		journal.ResultSwitching, journal.ResultSwitched:
	}
	if words == (notice{}) {
		return ""
	}
	if slices.Contains(endings(), reason) && leftCalls(m) {
		words[0] += " What it was about to do has not been done."
		words[1] += "它准备执行的操作没有执行。"
	}
	return c.inTheirWords(words)
}

// endings are the reasons for which calls of an answer are never begun.
func endings() []string {
	return []string{messages.ReasonLength, messages.ReasonFiltered, messages.ReasonRefused, messages.ReasonUnfinished}
}

// leftCalls reports whether a message has a call that never began.
func leftCalls(m uimessage.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolOutputError && strings.HasPrefix(t.ErrorText.Or(""), messages.NeverBegun)
	})
}

// notWhole words why an answer is not a whole one, said after its words; shown: people
// read some of them.
func notWhole(reason string, shown bool) notice {
	switch reason {
	case messages.ReasonLength:
		return notice{"The answer was cut at its length limit. Ask me to go on, or for a shorter answer.", "回答达到长度上限，被截断了。可以让我继续，或要求更简短的回答。"}
	case messages.ReasonFiltered:
		return notice{"The answer ends here: the service of my model stopped it because of its content.", "回答到此为止：模型服务因内容原因中止了它。"}
	case messages.ReasonRefused:
		if !shown {
			return failure(reason)
		}
	case messages.ReasonUnfinished:
		return notice{"This answer may be incomplete: my model did not say that it had finished.", "这个回答可能不完整：模型没有表明已经写完。"}
	}
	return notice{}
}

// inTheirWords chooses the language of the newest user turn.
func (c *Chat) inTheirWords(n notice) string { return c.text(n, c.newestTurn()) }

// newestTurn is the newest turn of people; the zero turn if there is none.
func (c *Chat) newestTurn() journal.Turn {
	for _, t := range slices.Backward(c.state.History) {
		if t.Role == uimessage.RoleUser {
			return t
		}
	}
	return journal.Turn{}
}

// text is a notice in the language that people chose for the chat, else of a turn. An
// order has none: it is that of what was said before.
func (c *Chat) text(n notice, t journal.Turn) string {
	switch c.language() {
	case LanguageChinese:
		return n[1]
	case LanguageEnglish:
		return n[0]
	}
	if c.writtenInChinese(t) {
		return n[1]
	}
	return n[0]
}

// writtenInChinese reports whether a turn is, or for an order, what was said before it.
func (c *Chat) writtenInChinese(t journal.Turn) bool {
	words := journal.Text(t.Message)
	if strings.HasPrefix(words, "/") || words == "" {
		words += journal.Text(c.newestTurn().Message)
	}
	return strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
