package approval

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ReferredWords asks the person of a private chat about a request of another chat.
func ReferredWords(g journal.ReferredRequest) notices.Text {
	where := notices.Text{FromWhere(g, false) + MeansThere(g, false) + "\n\n", FromWhere(g, true) + MeansThere(g, true) + "\n\n"}
	folder := notices.Text{}
	if g.FilesIn != "" {
		folder = HowToAllowFolder(g.N, g.FilesIn, Quoted(g.AskerName, g.Asker), "")
	}
	return Words(g.Asked(), where, HowToAnswer(g.N, nil, false, false, ""), folder)
}

// FromWhere says whose request it is. Names are chosen by people, so they are quoted, cut and reduced to plain text.
func FromWhere(g journal.ReferredRequest, zh bool) string {
	who, where := Quoted(g.AskerName, g.Asker), Quoted(g.ChatTitle, "")
	task := Quoted(g.TaskTitle, "")
	switch {
	case g.Task && zh && where != "":
		return "群" + where + "的定时任务" + task + "需要你的审批。"
	case g.Task && zh && g.Group:
		return "一个群的定时任务" + task + "需要你的审批。"
	case g.Task && zh && who != "":
		return who + "的定时任务" + task + "需要你的审批。"
	case g.Task && zh:
		return "定时任务" + task + "需要你的审批。"
	case g.Task && where != "":
		return strings.TrimSpace("The scheduled task "+task) + " of the group " + where + " needs your approval."
	case g.Task && g.Group:
		return strings.TrimSpace("The scheduled task "+task) + " of a group needs your approval."
	case g.Task && who != "":
		return strings.TrimSpace("The scheduled task "+task) + " of " + who + " needs your approval."
	case g.Task:
		return strings.TrimSpace("The scheduled task "+task) + " needs your approval."
	case g.Group && where == "" && zh:
		return "成员" + who + "在一个群里的请求需要你的审批。"
	case g.Group && where == "":
		return who + " asked for this in a group, and it needs your approval."
	case g.Group && zh:
		return "成员" + who + "在群" + where + "里的请求需要你的审批。"
	case g.Group:
		return who + " asked for this in the group " + where + ", and it needs your approval."
	case zh:
		return "用户" + who + "在与我的私聊中提出的请求需要你的审批。"
	}
	return who + " asked for this in their private chat with me, and it needs your approval."
}

// MeansThere explains words such as “this chat” and “you” in a request from another chat, where they would be misread.
// It is empty if the request has no such words.
func MeansThere(g journal.ReferredRequest, zh bool) string {
	said := WordsOf(g.Asked(), zh)
	text := said.What + " " + said.Risk
	var chats, out []string
	note := func(words, shown string) {
		if strings.Contains(text, words) && !slices.Contains(chats, shown) {
			chats = append(chats, shown)
		}
	}
	if zh {
		note("这个聊天", "“这个聊天”")
		note("在这里", "“这里”")
		if len(chats) > 0 {
			out = append(out, "下文的"+strings.Join(chats, "和")+"指提出请求的那个聊天。")
		}
		if strings.Contains(text, "关于你") {
			out = append(out, "下文的“你”指提出请求的人。")
		}
		return strings.Join(out, "")
	}
	note("this chat", "“this chat”")
	note("conversations here", "“here”")
	note("message here", "“here”")
	switch len(chats) {
	case 0:
	case 1:
		out = append(out, " Below, "+chats[0]+" means the chat where it was asked.")
	default:
		out = append(out, " Below, "+strings.Join(chats, " and ")+" mean the chat where it was asked.")
	}
	if strings.Contains(text, "about you?") {
		out = append(out, " Below, “you” means who asked.")
	}
	return strings.Join(out, "")
}

// ForWhom continues an English sentence with the person who asked. It is empty for a task.
func ForWhom(task bool, who string) string {
	if task || who == "" {
		return ""
	}
	return " of " + who
}

// FromZh says in Chinese where a request came from.
func FromZh(task bool, who string) string {
	if task || who == "" {
		return "来自另一个聊天"
	}
	return "来自" + who
}
