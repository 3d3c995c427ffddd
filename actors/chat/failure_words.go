package chat

// FailureWords are what people read of a run that failed for a reason, in English and
// Chinese.
func FailureWords(reason string) (english, chinese string) {
	switch reason {
	case "expired", "withdrawn":
		return "A request for approval ended without a decision, so that nothing was done.", "审批请求在没有决定的情况下结束，没有执行任何操作。"
	case "stopped":
		return "The run was stopped before it had an answer.", "任务在得出回答之前被停止了。"
	case "interrupted":
		return "The run was interrupted.", "任务被中断了。"
	case "declined", "ignored":
		return "The message was not taken.", "这条消息没有被接收。"
	}
	n := failure(reason)
	return n.en, n.zh
}
