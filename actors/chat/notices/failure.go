package notices

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// UnsentReason says why a message could not be sent, in English and Chinese.
func UnsentReason(reason string) [2]string {
	known := map[string][2]string{
		string(platform.SendRate):      {"the service asks to wait", "平台要求稍后再发"},
		string(platform.SendNetwork):   {"the service cannot be reached", "无法连接平台"},
		string(platform.SendServer):    {"the service has a fault", "平台出现故障"},
		string(platform.SendAuth):      {"the service refuses the bot's token", "平台拒绝了机器人的凭证"},
		string(platform.SendForbidden): {"the bot may not write here", "机器人无权在这里发消息"},
		string(platform.SendNotFound):  {"the service does not find the chat", "平台找不到这个聊天"},
	}
	words := known[reason]
	return [2]string{cmp.Or(words[0], "the service refused it"), cmp.Or(words[1], "平台拒绝了这条消息")}
}

// FailureWords explains to people why a run failed, in English and Chinese.
func FailureWords(reason string) (english, chinese string) {
	switch reason {
	case "expired", "withdrawn":
		return "A request for approval ended without a decision, so nothing was done.", "审批请求在没有决定的情况下结束，没有执行任何操作。"
	case "stopped":
		return "The work on this was stopped before there was an answer.", "在得出回答之前，处理被停止了。"
	case "interrupted":
		return "The work on this was interrupted, so there is no answer.", "处理被中断，没有得出回答。"
	case "declined", "ignored":
		return "The message was not taken.", "这条消息没有被接收。"
	}
	n := Failure(reason, "")
	return n[0], n[1]
}

// Exhausted explains that a spending limit, which is named as its setting, ended a run. until is the end of the hour, day
// or month that the limit is for, or empty if it is not known. asked is set if the owner was asked to allow more.
func Exhausted(limit, until string, asked bool) Text {
	raise := Text{" the owner has raised the limit (budget." + limit + ").", "主人提高上限（budget." + limit + "）。"}
	if asked {
		raise = Text{" the owner has allowed more with /more (budget." + limit + ").", "主人用 /more 允许更多用量（budget." + limit + "）。"}
	}
	if _, ok := window.Of(limit); !ok {
		return Text{
			"I stopped: this answer has used as much of my model as one answer may. Ask me to go on, which begins a new one; a higher limit is up to the owner (budget." + limit + ").",
			"已停止：这次回答对模型的用量达到了单次回答的上限。可以让我继续，那会是一次新的回答；如需更高的上限，请联系主人（budget." + limit + "）。",
		}
	}
	who, in := used(limit)
	at := in.end
	if until != "" {
		at = Text{until, " " + until + " "}
	}
	return Text{
		"I cannot answer now: " + who[0] + " of my model in " + in.name[0] + ". Ask again after " + at[0] + ", or once" + raise[0],
		"现在无法回答：" + who[1] + in.name[1] + "对模型的用量已达到" + in.limit + "上限。请在" + at[1] + "之后再问，或等" + raise[1],
	}
}

// Cheaper explains that a cheaper model has answered because a spending limit is reached. label is the name of the
// cheaper model.
func Cheaper(limit, label, until string) Text {
	if _, ok := window.Of(limit); !ok {
		return Text{
			"This answer has used as much of my model as one answer may, so " + label + ", which is cheaper, has finished it (budget." + limit + ").",
			"这次回答对模型的用量达到了单次回答的上限，其余部分由更便宜的 " + label + " 完成（budget." + limit + "）。",
		}
	}
	who, in := used(limit)
	return Text{
		"From now on until " + until + " " + label + " answers here, which is cheaper: " + who[0] + " of my model in " + in.name[0] + " (budget." + limit + ").",
		"从现在起到 " + until + "，这里由更便宜的 " + label + " 回答：" + who[1] + in.name[1] + "对模型的用量已达到" + in.limit + "上限（budget." + limit + "）。",
	}
}

// MayUseMore asks the owner whether as much again as a limit may be used, which /more with the code allows. chat and person
// are those whose request the limit refused.
func MayUseMore(limit, code, chat, person string, now time.Time) Text {
	who := Text{"All chats together have used what they may use", "所有聊天合计"}
	switch {
	case ofChat(limit):
		who = Text{"The chat " + chat + " has used what it may use", "聊天" + chat}
	case ofPerson(limit):
		who = Text{person + ", who wrote in the chat " + chat + ", has used what one person may use", "在聊天" + chat + "里提问的 " + person + " "}
	}
	_, in := used(limit)
	until := Until(limit, now)
	return Text{
		who[0] + " of my model in " + in.name[0] + " (budget." + limit + "). Send /more " + code + " to allow as much again until " + until + ".",
		who[1] + in.name[1] + "对模型的用量已达到" + in.limit + "上限（budget." + limit + "）。发送 /more " + code + " 可以在 " + until + " 之前再允许同样多的用量。",
	}
}

// MoreAllowed tells the owner that as much again as a limit may be used.
func MoreAllowed(limit string, now time.Time) Text {
	until := Until(limit, now)
	return Text{
		"Allowed: until " + until + " as much again may be used (budget." + limit + ").",
		"已允许：在 " + until + " 之前可以再使用同样多的用量（budget." + limit + "）。",
	}
}

// Until is when the window of a spending limit ends, or empty for a limit without one.
func Until(limit string, now time.Time) string {
	w, ok := window.Of(limit)
	if !ok {
		return ""
	}
	return w.End(now).Format("2006-01-02 15:04 -07:00")
}

func ofChat(limit string) bool {
	return strings.HasPrefix(limit, "chat") || strings.HasPrefix(limit, "usdPerChat")
}

func ofPerson(limit string) bool {
	return strings.HasPrefix(limit, "person") || strings.HasPrefix(limit, "usdPerPerson")
}

// spell is the window of a limit in words. In Chinese limit says what kind of limit it is.
type spell struct {
	name, end Text
	limit     string
}

// used says, for the beginning of a sentence, whose limit is reached, and for which window.
func used(limit string) (Text, spell) {
	who := Text{"all chats together have used what they may use", "所有聊天合计"}
	switch {
	case ofChat(limit):
		who = Text{"this chat has used what it may use", "这个聊天"}
	case ofPerson(limit):
		who = Text{"whoever asked this first has used what one person may use", "最先提问的人"}
	}
	switch in, _ := window.Of(limit); in {
	case window.Hour:
		return who, spell{Text{"an hour", "这一小时"}, Text{"the full hour", "整点"}, "每小时"}
	case window.Month:
		return who, spell{Text{"a month", "本月"}, Text{"the end of the month", "月底"}, "每月"}
	default:
		return who, spell{Text{"a day", "今天"}, Text{"midnight", "零点"}, "每日"}
	}
}

// Failure explains why a run ended without an answer.
func Failure(reason, at string) Text {
	if limit, ok := model.Reason(reason).Budget(); ok {
		return Exhausted(limit, "", model.Reason(reason).OwnerAsked())
	}
	switch reason {
	case "auth":
		return Text{
			"I cannot reach my model: its key was refused. The operator has to set a valid key (llm.apiKey).",
			"无法使用模型：密钥被拒绝。请管理员设置有效的密钥（llm.apiKey）。",
		}
	case "quota":
		return Text{
			"I cannot use my model: its account has nothing left to pay with. The operator has to look at the account's balance.",
			"无法使用模型：账户余额或额度已用完。请管理员检查账户。",
		}
	case "bad_request":
		return Text{
			"My model refused this request, and the same one would be refused again. The operator finds the reason in the log.",
			"模型拒绝了这个请求，重试也不会成功。请管理员查看日志中的原因。",
		}
	case "not_found":
		return Text{
			"I cannot reach my model: its name or address is unknown. The operator has to check llm.model and llm.baseUrl.",
			"无法使用模型：名称或地址不存在。请管理员检查 llm.model 和 llm.baseUrl。",
		}
	case "address":
		return Text{
			"I cannot reach my model: something else answers at its address. The operator has to check llm.baseUrl, which usually ends in /v1.",
			"无法使用模型：它的地址上不是模型服务。请管理员检查 llm.baseUrl，它通常以 /v1 结尾。",
		}
	case "too_long":
		return Text{"This conversation has become too long for my model. /compact" + at + " sums up its older part; then ask again.", "这段对话对模型来说太长了。请发送 /compact" + at + " 压缩较早的部分，然后再问一次。"}
	case "rate", "overloaded":
		return Text{"My model is overloaded at the moment. Please try again in a minute.", "模型暂时过载，请过一分钟再试。"}
	case "idle":
		return Text{"My model did not answer in time. Please try again.", "模型没有及时回答，请重试。"}
	case "network":
		return Text{"I could not get an answer from my model: the connection failed. Please try again.", "没有收到模型的回答：连接失败，请重试。"}
	case "cut":
		return Text{
			"I could not get a whole answer from my model: it broke off or could not be read. Please try again.",
			"没有得到模型的完整回答：回答中途断开或无法读取，请重试。",
		}
	case messages.ReasonFiltered, messages.ReasonRefused:
		return Text{"My model refused to answer this.", "模型拒绝回答这个内容。"}
	case messages.ReasonLength:
		return Text{
			"There is no answer: my model reached its length limit before it had written one. Please ask for something shorter; the operator can raise the limit (llm.maxOutputTokens).",
			"没有得到回答：模型还没写出答案就达到了长度上限。请把问题缩小一些；管理员可以提高上限（llm.maxOutputTokens）。",
		}
	case messages.ReasonEmpty:
		return Text{"There is no answer: my model sent an empty one twice. Please ask again, perhaps in other words.", "没有得到回答：模型两次都返回了空内容。请再试一次，或换个说法。"}
	case messages.ReasonOnlyThoughts:
		return Text{
			"There is no answer: my model thought about this twice and wrote none. Please ask again, perhaps in other words.",
			"没有得到回答：模型思考了两次，都没有写出答案。请再试一次，或换个说法。",
		}
	case messages.ReasonUnfinished:
		return Text{"There is no answer: my model ended without finishing one. Please ask again.", "没有得到回答：模型没有写完就结束了。请再试一次。"}
	case "steps", "stop":
		return Text{"I stopped: this took more steps than I may take for one answer. Ask me to go on if it still matters.", "已停止：步骤数超过了一次回答的上限。如仍需要，可以让我继续。"}
	case "equal_calls":
		return Text{"I stopped: I kept making the same tool call without getting further.", "已停止：我在重复同样的工具调用，没有进展。"}
	case "schema_failures":
		return Text{"I stopped: I kept calling tools in ways that they cannot take.", "已停止：我多次用错误的参数调用工具。"}
	case journal.ReasonQuarantined:
		return Text{
			"I could not handle a message here and put it aside; everything else goes on. The operator finds it with sma outbox list.",
			"有一条消息我无法处理，已搁置，其他消息不受影响。管理员可以用 sma outbox list 查看。",
		}
	case "too_old":
		return Text{
			"I was interrupted while working on this and did not go on, since it is a while ago. Please ask again if it still matters.",
			"处理时被中断，时间已久，所以没有继续。如仍需要请再发一次。",
		}
	case "recovery":
		return Text{"I was interrupted several times while working on this and gave it up. Please ask again.", "处理时多次被中断，已放弃。请再发一次。"}
	}
	return Text{"Something went wrong here; I could not finish. Please try again.", "出错了，没能完成，请重试。"}
}

// Endings are the reasons after which the calls of an answer are not executed.
func Endings() []string {
	return []string{messages.ReasonLength, messages.ReasonFiltered, messages.ReasonRefused, messages.ReasonUnfinished}
}

// LeftCalls reports whether a message has a call that was never begun.
func LeftCalls(m uimessage.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolOutputError && strings.HasPrefix(t.ErrorText.Or(""), messages.NeverBegun)
	})
}

// NotWhole explains, after an answer, why the answer is incomplete. Shown is set if people have read a part of it. The
// result is empty if the answer is complete.
func NotWhole(reason string, shown bool) Text {
	switch reason {
	case messages.ReasonLength:
		return Text{"The answer was cut at its length limit. Ask me to go on, or for a shorter answer.", "回答达到长度上限，被截断了。可以让我继续，或要求更简短的回答。"}
	case messages.ReasonFiltered:
		return Text{"The answer ends here: the service of my model stopped it because of its content.", "回答到此为止：模型服务因内容原因中止了它。"}
	case messages.ReasonRefused:
		if !shown {
			return Failure(reason, "")
		}
	case messages.ReasonUnfinished:
		return Text{"This answer may be incomplete: my model did not say that it had finished.", "这个回答可能不完整：模型没有表明已经写完。"}
	}
	return Text{}
}
