package cli

// words are the texts of the REPL in one language.
type words struct {
	hello, help, waiting, joined, stopped, nothing, again, lost, back, elsewhere string
	failed, interrupted, approval, running, compacted, toolFailed, demo          string

	chinese bool
}

func english() words {
	return words{
		hello:       "Chat %s with %s, %d messages so far. /help shows what can be typed.",
		help:        "Write a message and press Enter, also during an answer: it joins the answer at its next step.\n/stop stops the answer, /stop all drops waiting messages too, /quit leaves. Ctrl-C stops, twice leaves.",
		waiting:     "(waiting: joins the answer at its next step)",
		joined:      "(your message joined the answer)",
		stopped:     "(stopped)",
		nothing:     "(no answer is under way)",
		again:       "(Ctrl-C again leaves)",
		lost:        "(the connection is lost, trying again)",
		back:        "(connected again)",
		elsewhere:   "elsewhere",
		failed:      "(the answer failed)",
		interrupted: "(interrupted, outcome unknown)",
		approval:    "(waits for your approval: answer approve or deny)",
		running:     "(an answer is under way)",
		compacted:   "(earlier messages were condensed)",
		toolFailed:  "failed",
		demo:        "(demo model, no assistant: set OPENAI_API_KEY for a real one)",
	}
}

func chinese() words {
	return words{
		chinese:     true,
		hello:       "聊天 %s（%s），已有 %d 条消息。输入 /help 查看用法。",
		help:        "输入消息并回车；回答期间也可以继续输入，新消息会在下一步并入回答。\n/stop 停止回答，/stop all 同时丢弃等待的消息，/quit 退出。Ctrl-C 停止，连按两次退出。",
		waiting:     "（等待中：将在下一步并入回答）",
		joined:      "（你的消息已并入回答）",
		stopped:     "（已停止）",
		nothing:     "（没有正在进行的回答）",
		again:       "（再按一次 Ctrl-C 退出）",
		lost:        "（连接已断开，正在重试）",
		back:        "（已重新连接）",
		elsewhere:   "别处",
		failed:      "（回答失败）",
		interrupted: "（已中断，结果未知）",
		approval:    "（等待批准：回复 同意 或 拒绝）",
		running:     "（正在回答）",
		compacted:   "（较早的消息已压缩）",
		toolFailed:  "失败",
		demo:        "（演示模型，不是真正的助手：设置 OPENAI_API_KEY 即可使用真实模型）",
	}
}
