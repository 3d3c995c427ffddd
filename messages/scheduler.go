package messages

// ToScheduler is everything that reaches the scheduler.
//
//sumtype:decl
type ToScheduler interface{ toScheduler() }

// TasksChanged reports that the files of the tasks changed. Sent by the host; it may be sent
// without a change.
type TasksChanged struct{}

// RunTask runs a task now, regardless of its schedule. Sent by the host on behalf of a person, or
// of a call that a person approved. Answered with [TaskStarted].
type RunTask struct {
	TaskID string
	By     string
}

// TaskStarted answers [RunTask]: the fire is durable.
type TaskStarted struct {
	TaskID string
	FireID string
	// Reason says why no fire was started: not_found, running, unavailable; it is empty with a
	// FireID.
	Reason string
}

// PostWords queues words of the host in a chat: the result of a task, or a question about a spending
// limit. They become an assistant message of their own, so that the model knows them too. Sent through
// the router; answered with [WordsPosted] once they are durable. A known id does nothing.
type PostWords struct {
	ChatKey   ChatKey
	PostID    string
	RequestID string
	Text      string
	// Chinese is the text for those who write Chinese, if it differs.
	Chinese string
}

// WordsPosted answers [PostWords].
type WordsPosted struct {
	ChatKey ChatKey
	PostID  string
	// Reason says why nothing was accepted: busy, or that the chat cannot be read or written now. It
	// is empty if the words are durable.
	Reason string
}

func (TasksChanged) toScheduler()    {}
func (RunTask) toScheduler()         {}
func (IngressAccepted) toScheduler() {}
func (IngressRejected) toScheduler() {}
func (ChatProgressed) toScheduler()  {}
func (WatchEnded) toScheduler()      {}
func (ViewReply) toScheduler()       {}
func (WordsPosted) toScheduler()     {}

func (PostWords) toChat() {}

func (m PostWords) key() ChatKey { return m.ChatKey }
