// Package notices has the texts that platforms send on their own, without involving a chat: about
// pairing, groups and buttons. All platforms share one set in two languages; the platform knows
// which language a person reads.
package notices

import "strings"

// Words are the texts in one language.
type Words struct {
	IsChinese bool

	NotPaired string // contains the code
	NotOpen   string // to strangers, where access cannot be requested
	// To the owner: somebody or a group requests access, with the name; more requests are pending;
	// the pending requests; no pending requests.
	WantsIn, GroupWantsIn, MoreWait, WhoWaits, NoneWaiting string
	// GroupAdded takes the name of the person who added the bot and the group, GroupYouAdded only
	// the group.
	GroupAdded, GroupYouAdded string
	// To people with new access: permanent, once, and once without a waiting message.
	LetIn, LetOnce, LetOnceAgain string
	// Labels of the owner's buttons, and of the choice made.
	InButton, OnceButton, BlockButton, GroupButton string
	InDone, OnceDone, BlockDone                    string
	// GoneDone: the bot has left the group. NotOpenAnyMore: the request had already ended when the
	// button was pressed.
	GoneDone, NotOpenAnyMore string
	OwnerNow                 string
	ApprovedNow              string
	BadCode                  string
	TooMany                  string
	GroupClosed              string
	GroupAllowed             string
	OwnerOnly                string
	Approved                 string // with the person's name

	// Labels of buttons and replies to presses; each at most 200 characters.
	ApproveButton, DenyButton                              string
	ApprovedToast, DeniedToast, AlreadyDecided             string
	ExpiredRequest, MayNotDecide, UnknownRequest, TryAgain string
	// UnseenRequest: part of the request has not been delivered yet.
	UnseenRequest string
	// MayNotUse: the person who pressed a button may not use the bot here.
	MayNotUse string
	// Pressed: the reply to a button follows as a message.
	Pressed string
}

// English returns the texts for everybody who does not read Chinese. What follows the name of a command in them is at:
// nothing, or @ and the name of the bot.
func English(at string) Words {
	return Words{
		NotPaired:     "Hello! I only talk to people whom my owner has let in. I have asked, and your first message waits until then. You can also give my owner this code: {}",
		NotOpen:       "Hello! I only talk to my owner.",
		WantsIn:       "{} wants to talk to me. May they use me? “Just once” answers the message that waits; the next one asks you again. “Block” means that they get no answer.",
		GroupWantsIn:  "Somebody wants to use me in the group {}. May its members use me?",
		GroupAdded:    "{} has added me to the group {}. May its members use me?",
		GroupYouAdded: "You have added me to the group {}. May its members use me?",
		MoreWait:      "More people or groups want to use me. I do not ask you about each of them now. Send /allow" + at + " to see who waits.",
		WhoWaits:      "These people or groups wait to be let in. Send me the code of one to let that one in:",
		NoneWaiting:   "Nobody is waiting to be let in.",
		LetIn:         "My owner has let you in. I answer your first message now. If you have written more, please send that again.",
		LetOnce:       "My owner lets me answer this message. I ask again before the next one.",
		LetOnceAgain:  "My owner lets me answer one message, but yours could not be kept. Please send it again; I ask my owner then.",
		InButton:      "Let in", OnceButton: "Just once", BlockButton: "Block", GroupButton: "Let the group in",
		InDone: "Let in", OnceDone: "Just once", BlockDone: "Blocked", GoneDone: "No longer in this group", NotOpenAnyMore: "This question is no longer open.",
		OwnerNow:     "Paired: you are the owner of this bot now. Just write to me.",
		ApprovedNow:  "Paired: you may use me now. Just write to me.",
		BadCode:      "This code is not valid: it may be mistyped, used already or expired. Please get a new one.",
		TooMany:      "Too many codes were tried. Please try again in an hour.",
		GroupClosed:  "This group may not use me yet. My owner can mention me here or send /allow" + at + ".",
		GroupAllowed: "This group may use me now.",
		OwnerOnly:    "Only my owner can do that. Nothing was changed.",
		Approved:     "{} may use me now.",

		ApproveButton: "Approve", DenyButton: "Deny", ApprovedToast: "Approved.", DeniedToast: "Denied.", AlreadyDecided: "This was decided already.",
		ExpiredRequest: "This request has expired. Nothing was done.", MayNotDecide: "You may not decide about this.",
		UnknownRequest: "This request is no longer open here. Your press changed nothing.", TryAgain: "I cannot take this now. Please press again in a moment.",
		UnseenRequest: "This request could not be shown completely yet, so it cannot be decided yet. It stays open; /approvals" + at + " shows it.",
		Pressed:       "The answer is in the chat.",
		MayNotUse:     "You may not use this bot here, so nothing was done.",
	}
}

// Chinese returns the texts for people who read Chinese.
func Chinese(at string) Words {
	return Words{
		IsChinese:     true,
		NotPaired:     "你好！我只和主人放行的人对话。我已经去问主人了，你的第一条消息会一直等着。你也可以把这个代码交给我的主人：{}",
		NotOpen:       "你好！我只和主人对话。",
		WantsIn:       "{} 想和我对话，可以吗？“仅这一次”只回答正在等待的那条消息，下一条会再问你；“拉黑”后对方不会收到任何回复。",
		GroupWantsIn:  "有人想在群 {} 里使用我。要让群里的人使用吗？",
		GroupAdded:    "{} 把我加进了群 {}。要让群里的人使用我吗？",
		GroupYouAdded: "你把我加进了群 {}。要让群里的人使用我吗？",
		MoreWait:      "还有更多人或群想使用我，我不再逐个询问。发送 /allow" + at + " 可以查看谁在等待。",
		WhoWaits:      "以下的人或群在等待放行。把代码发给我，就会放行对应的一位：",
		NoneWaiting:   "没有人在等待放行。",
		LetIn:         "主人已经放行，我现在就回答你的第一条消息。如果之后还发过别的，请再发一次。",
		LetOnce:       "主人让我回答这一条消息。下一条我会再问主人。",
		LetOnceAgain:  "主人让我回答一条消息，但你的消息没有保存下来。请再发一次，我会再问主人。",
		InButton:      "放行", OnceButton: "仅这一次", BlockButton: "拉黑", GroupButton: "允许这个群",
		InDone: "已放行", OnceDone: "仅这一次", BlockDone: "已拉黑", GoneDone: "我已不在这个群", NotOpenAnyMore: "这个询问已经结束了。",
		OwnerNow:     "配对成功，你现在是这个机器人的主人。直接发消息就可以了。",
		ApprovedNow:  "配对成功，直接发消息就可以了。",
		BadCode:      "这个配对码无效，或者已经用过、过期了。请重新获取一个。",
		TooMany:      "配对码尝试次数过多，请一小时后再试。",
		GroupClosed:  "这个群还没有开放。请主人在这里 @ 我，或者发送 /allow" + at + "。",
		GroupAllowed: "这个群现在可以使用我了。",
		OwnerOnly:    "只有主人可以这样做，未做任何更改。",
		Approved:     "{} 现在可以使用我了。",

		ApproveButton: "批准", DenyButton: "拒绝", ApprovedToast: "已批准。", DeniedToast: "已拒绝。", AlreadyDecided: "这个请求已经有结果了。",
		ExpiredRequest: "这个请求已失效，没有执行任何操作。", MayNotDecide: "你无权审批这个请求。",
		UnknownRequest: "这个请求已不在这里等待决定，这次点按没有改变任何内容。", TryAgain: "现在无法处理，请稍后再点一次。",
		UnseenRequest: "这个请求还没有完整显示，暂时不能审批。请求保持等待，可以用 /approvals" + at + " 查看。",
		Pressed:       "回复在聊天里。",
		MayNotUse:     "你无权在这里使用这个机器人，未执行任何操作。",
	}
}

// For returns the texts in one of the languages, without the name of the bot.
func For(chinese bool) Words {
	if chinese {
		return Chinese("")
	}
	return English("")
}

// Fill replaces the placeholders in a text by values. Placeholders inside a value are not replaced.
func Fill(text string, values ...string) string {
	var out strings.Builder
	for _, value := range values {
		before, after, ok := strings.Cut(text, "{}")
		if !ok {
			break
		}
		out.WriteString(before + value)
		text = after
	}
	return out.String() + text
}
