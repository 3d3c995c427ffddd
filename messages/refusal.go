package messages

// Refusal is the answer to a message that a chat does not take now. It is nil for a message that must be kept, because
// its sender does not repeat it and hears nothing of a refusal, such as a receipt.
func Refusal(msg any, reason string) any {
	switch msg := msg.(type) {
	case AcceptIngress:
		return IngressRejected{ChatKey: msg.ChatKey, RequestID: msg.RequestID, Reason: reason}
	case StopRun:
		return RunStopped{ChatKey: msg.ChatKey, Err: reason}
	case ViewQuery:
		return ViewReply{ChatKey: msg.ChatKey, Err: reason}
	case RewindChat:
		return ChatRewound{ChatKey: msg.ChatKey, Reason: reason}
	case ForgetChat:
		return ChatForgotten{ChatKey: msg.ChatKey, Err: reason}
	case DecideApproval:
		return ApprovalDecided{ChatKey: msg.ChatKey, Err: reason}
	case DecideReferred:
		return ReferredDecided{ChatKey: msg.From, From: msg.ChatKey, ID: msg.ID, Err: reason}
	case ReferRequests:
		return RequestsReferred{ChatKey: msg.ChatKey, Err: reason}
	case RevokeGrants:
		return GrantsRevoked{ChatKey: msg.ChatKey, Err: reason}
	case QueueEgress:
		return EgressAnswer{Err: "the message could not be saved; nothing was sent"}
	case PostWords:
		return WordsPosted{ChatKey: msg.ChatKey, PostID: msg.PostID, Reason: reason}
	case OutboxQuery:
		return OutboxReply{ChatKey: msg.ChatKey, Err: reason}
	case RetryParked:
		return ParkedSettled{ChatKey: msg.ChatKey, Err: reason}
	case DropParked:
		return ParkedSettled{ChatKey: msg.ChatKey, Err: reason}
	case WatchChat:
		return WatchEnded(msg)
	}
	return nil
}
