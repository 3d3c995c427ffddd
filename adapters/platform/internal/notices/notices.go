// Package notices is what platforms say to people by themselves, before any chat is
// asked: about pairing, groups and buttons. The texts are one set for all platforms,
// in two languages; which one a person reads is the platform's to know.
package notices

import "strings"

// Words are what people read, in one language.
type Words struct {
	NotPaired    string // with the code
	OwnerNow     string
	ApprovedNow  string
	BadCode      string
	TooMany      string
	GroupClosed  string
	GroupAllowed string
	OwnerOnly    string
	Approved     string // with the person's name

	// On buttons, and of buttons that were pressed; each at most 200 characters.
	ApproveButton, DenyButton                              string
	ApprovedToast, DeniedToast, AlreadyDecided             string
	ExpiredRequest, MayNotDecide, UnknownRequest, TryAgain string
	// UnseenRequest: not everything of the request is with people yet.
	UnseenRequest string
}

// English are the words for everybody else.
func English() Words {
	return Words{
		NotPaired:    "Hello! This bot only talks to people it is paired with. Please send its owner this code: {} (good for one hour).",
		OwnerNow:     "Paired: you are the owner of this bot now. Just write to me.",
		ApprovedNow:  "Paired: just write to me.",
		BadCode:      "This code is not valid: it may be mistyped, spent or expired. Please get a new one.",
		TooMany:      "Too many codes were tried. Please try again in an hour.",
		GroupClosed:  "This group is not allowed yet. Its owner can mention me here or send /allow.",
		GroupAllowed: "This group may use me now.",
		OwnerOnly:    "Only the owner can do that.",
		Approved:     "{} may use me now.",

		ApproveButton: "Approve", DenyButton: "Deny", ApprovedToast: "Approved.", DeniedToast: "Denied.", AlreadyDecided: "This was decided already.",
		ExpiredRequest: "This request has expired. Nothing was done.", MayNotDecide: "You may not decide about this.",
		UnknownRequest: "I do not know this request.", TryAgain: "I cannot take this now. Please press again in a moment.",
		UnseenRequest: "This request could not be shown completely yet, so it cannot be decided yet. It stays open; /approvals shows it.",
	}
}

// Chinese are the words for those who read Chinese.
func Chinese() Words {
	return Words{
		NotPaired:    "你好！这个机器人只为已配对的人服务。请把配对码 {} 发给它的主人，一小时内有效。",
		OwnerNow:     "配对成功，你现在是这个机器人的主人。直接发消息就可以了。",
		ApprovedNow:  "配对成功，直接发消息就可以了。",
		BadCode:      "这个配对码无效，或者已经用过、过期了。请重新获取一个。",
		TooMany:      "配对码尝试次数过多，请一小时后再试。",
		GroupClosed:  "这个群还没有开放。请主人在这里 @ 我，或者发送 /allow。",
		GroupAllowed: "这个群现在可以使用我了。",
		OwnerOnly:    "只有主人可以这样做。",
		Approved:     "{} 现在可以使用我了。",

		ApproveButton: "批准", DenyButton: "拒绝", ApprovedToast: "已批准。", DeniedToast: "已拒绝。", AlreadyDecided: "这个请求已经有结果了。",
		ExpiredRequest: "这个请求已失效，没有执行任何操作。", MayNotDecide: "你无权审批这个请求。",
		UnknownRequest: "找不到这个请求。", TryAgain: "现在无法处理，请稍后再点一次。",
		UnseenRequest: "这个请求还没有完整显示，暂时不能审批。请求保持等待，可以用 /approvals 查看。",
	}
}

// For are the words of one of the languages.
func For(chinese bool) Words {
	if chinese {
		return Chinese()
	}
	return English()
}

// Fill puts a value into its place in a text.
func Fill(text, value string) string { return strings.Replace(text, "{}", value, 1) }
