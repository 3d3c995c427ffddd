package messages

// ToScheduler is everything that reaches the scheduler.
//
//sumtype:decl
type ToScheduler interface{ toScheduler() }

// TasksChanged says: the files of the tasks are other ones by now. Sent by the host;
// it may come without a change.
type TasksChanged struct{}

// RunTask runs a task now, whatever its times are. Sent by the host on behalf of a
// person, or of a call that a person agreed to. Answered with [TaskStarted].
type RunTask struct {
	TaskID string
	By     string
}

// TaskStarted answers [RunTask]: the fire is durable.
type TaskStarted struct {
	TaskID string
	FireID string
	// Reason says why nothing was started: not_found, running, unavailable; empty with a FireID.
	Reason string
}

// PostWords owes words of the host to a chat: what came of a task. They become an
// assistant message of their own, so that the model knows them, too. Sent by the
// scheduler through the router; answered with [WordsPosted] once they are durable.
// Words with an id that the chat knows are answered as a duplicate and do nothing.
type PostWords struct {
	ChatKey   ChatKey
	PostID    string
	RequestID string
	Text      string
}

// WordsPosted answers [PostWords].
type WordsPosted struct {
	ChatKey   ChatKey
	PostID    string
	Duplicate bool
	// Reason says why nothing was taken: busy, or that the chat cannot be read or
	// written now; empty: the words are durable.
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

// Key implements Addressed.
func (m PostWords) Key() ChatKey { return m.ChatKey }
