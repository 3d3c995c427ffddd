package machine

// FailureWords are what people read of a run that failed for a reason, in English and
// Chinese.
func FailureWords(reason string) (english, chinese string) {
	switch reason {
	case "expired", "withdrawn":
		return "A request for approval ended without a decision, so that nothing was done.", "审批请求在没有决定的情况下结束，没有执行任何操作。"
	case "stopped":
		return "The work on this was stopped before there was an answer.", "在得出回答之前，处理被停止了。"
	case "interrupted":
		return "The work on this was interrupted, so there is no answer.", "处理被中断，没有得出回答。"
	case "declined", "ignored":
		return "The message was not taken.", "这条消息没有被接收。"
	}
	n := failure(reason)
	return n[0], n[1]
}
