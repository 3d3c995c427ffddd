package notices

// UnknownCommand answers a command that does not exist.
func UnknownCommand(at string) Text {
	return Text{"I do not know this command. /help" + at + " lists the commands.", "我不认识这个命令。发送 /help" + at + " 查看所有命令。"}
}

// ForwardedCommand answers a command in a forwarded message, or in one that came through another bot.
func ForwardedCommand() Text {
	return Text{"Somebody else wrote this command, so I did nothing. Send it yourself.", "这个命令是别人写的，我没有执行。请你自己发送。"}
}

// Obeyed answers a command that was delivered twice.
func Obeyed() Text {
	return Text{"This command was carried out already.", "这个命令已经执行过了。"}
}

// Approved confirms a decision.
func Approved() Text { return Text{"Approved.", "已批准。"} }

// Denied confirms a decision.
func Denied() Text { return Text{"Denied.", "已拒绝。"} }

// Stopped confirms a command to stop.
func Stopped() Text { return Text{"Stopped.", "已停止。"} }

// NothingToStop answers a command to stop while no run is in progress.
func NothingToStop() Text {
	return Text{"I am not working on anything, so there is nothing to stop.", "我现在没有在处理消息，不需要停止。"}
}

// LaneFull tells people that their messages are declined. It is sent once in each flood.
func LaneFull() Text {
	return Text{
		"Too many messages are waiting here; I could not take the last ones. Please send them again later.",
		"等待处理的消息太多，最近的几条没有收下，请稍后再发。",
	}
}

// NoTranscript says why a voice message was not transcribed, by the reasons of package speech.
func NoTranscript(reason string) Text {
	switch reason {
	case "long":
		return Text{"I did not listen to this voice message: it is too long. A shorter one works, or text.", "这条语音太长，我没有听。请发短一些的，或者发文字。"}
	case "empty":
		return Text{"I heard no words in this voice message. Please say it again, or write it.", "这条语音里没有听到话，请再说一次，或者发文字。"}
	case "format", "refused":
		return Text{"I cannot listen to this kind of recording. Please write it, or send a voice message.", "这种录音我听不了，请发文字或普通语音。"}
	case "late", "rate", "server", "network":
		return Text{
			"I could not listen to this voice message: the service for that does not answer well at the moment. Please send it again later, or write it.",
			"语音识别服务暂时不可用，这条语音我没有听到。请稍后再发，或者发文字。",
		}
	}
	return Text{
		"I could not listen to this voice message: something is wrong with how this is set up here. Please write it; the operator finds the reason in the log.",
		"这条语音我没能听到：这里的语音识别没有设置好。请发文字；管理员可以查看日志中的原因。",
	}
}

// Bots ends a conversation between bots.
func Bots() Text {
	return Text{
		"I stop here, since only bots are talking. I go on when a person writes.",
		"我先停在这里：一直是机器人在互相回答。有人发消息我就继续。",
	}
}
