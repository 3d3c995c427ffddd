package notices

// ForgetAsk asks before a chat is deleted. It mentions the buttons only where people see them.
func ForgetAsk(buttons bool, at string) Text {
	how := Text{"send /forget" + at + " yes", "发送 /forget" + at + " 确认"}
	if buttons {
		how = Text{"press the button or send /forget" + at + " yes", "按下按钮或发送 /forget" + at + " 确认"}
	}
	return Text{
		"This deletes everything that I keep of this chat, for good: messages, archived conversations and summaries, what I remember of it, its files and recordings, its tasks, and what was allowed here. " +
			"In a private chat it also deletes what I remember of you. What was remembered for the whole project stays, and so do the messages that you see here.\n\n" +
			"To delete, " + how[0] + " within 30 minutes. To keep everything, do nothing.",
		"这会永久删除我保存的关于这个聊天的全部内容：消息、已归档的对话和摘要、我记住的内容、文件和录音、任务，以及这里授予的权限。" +
			"在私聊中还会删除我记住的关于你的内容。为整个项目记住的内容会保留，你在这里看到的消息也不会消失。\n\n" +
			"要删除，请在 30 分钟内" + how[1] + "。要保留，不用做任何事。",
	}
}

// Forgotten confirms the deletion of a chat.
func Forgotten() Text {
	return Text{"Done. Everything that I kept of this chat is deleted.", "已完成。我保存的关于这个聊天的全部内容都已删除。"}
}

// ForgetKept confirms that a chat was not deleted.
func ForgetKept() Text {
	return Text{"Nothing was deleted.", "没有删除任何内容。"}
}

// ForgetForbidden refuses to delete a chat.
func ForgetForbidden() Text {
	return Text{
		"Nothing was deleted. In a group, only my owner or somebody else who decides here can delete what I keep of it.",
		"没有删除任何内容。在群里，只有主人或其他有权在这里做决定的人可以删除我保存的内容。",
	}
}

// ForgetFailed says that a chat could not be deleted.
func ForgetFailed() Text {
	return Text{
		"Nothing was deleted, because the order could not be stored. Try again later; the operator finds the reason in the log.",
		"没有删除任何内容，因为无法保存这个指令。请稍后再试；管理员可以查看日志中的原因。",
	}
}

// ForgetLater says that the next start finishes the deletion of a chat.
func ForgetLater() Text {
	return Text{
		"Not everything could be deleted just now. It will be finished when I am started the next time; the operator finds the reason in the log.",
		"现在还不能全部删除，我下次启动时会继续完成。管理员可以查看日志中的原因。",
	}
}
