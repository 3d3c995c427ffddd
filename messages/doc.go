// Package messages contains the messages that actors send to each other, one file per
// receiver, and the ids in them.
//
// A message is a struct that is sent by value and never changed after sending. It has no
// pointers, channels, functions or contexts, and the sender does not keep its slices. Each
// has its correlation ids, and its comment names them.
//
// # A message and its run
//
// A platform's receiver maps an update to a platform.Inbound and hands it to its Port,
// which asks the adapter actor of the account and waits. The adapter actor asks the router
// with AcceptIngress, for all messages of a batch at once and in their order. The router
// picks the shard by the hash of the chat key; the shard finds or spawns the chat and
// passes the message on, with its sender.
//
// The chat drops an ingress id that it knows. Otherwise it marks itself to be
// woken, makes the turn durable, and answers IngressAccepted; IngressRejected says that
// nothing was taken. When every chat of the batch has answered, the adapter actor answers
// the receiver, and only then does the platform confirm to the outside.
//
// Nothing runs: the chat notes the fact and spawns a run with StartRun, which
// carries the system text, the tools and the model messages of the first step.
// The run asks the modelgate with AcquireSlot, gets SlotGranted, streams the
// model's answer through the step engine and tells the chat RunProgressed with
// chunks; the chat reduces them into the assistant message and shows them to
// watchers as ChatProgressed. ReleaseSlot gives the slot back. A stream that is
// cut is asked for again: StepRestarted voids what came of the step.
// A request that the model says is too long makes the run ask with ShortenInput;
// InputShortened brings the history with a summary in the place of old turns. If
// that is not to be had, or not enough, the request leaves out the oldest; the chat keeps
// this Trim for the runs that follow.
//
// StepDone brings the whole response. With calls in it, the chat journals the
// response and the intents, then answers ExecuteCalls; each outcome comes home
// as ToolDone and is journaled. chat_send reaches the outbox with QueueEgress
// and hears EgressAnswer. StepEnded says that every call has its outcome.
//
// Then the chat is at a step boundary. Turns that arrived meanwhile wait in the
// lane: the assistant message is closed, they become user turns in the order of
// arrival, and ContinueRun makes the next step see them in a new message. A
// response without calls ends the run; RunFailed ends it with a notice; StopRun
// ends it durably, answers RunStopped, and stops the actor.
//
// The end of a run is one fact: assistant message, fates of the turns, outbox
// rows. Deliver hands a row to the adapter actor; EgressProgressed,
// EgressDelivered and EgressFailed come back through the shard; EgressKept says that
// the chat has the receipt, and only then is the next part sent. ShowDraft and
// ShowTyping may be lost, Deliver may not. Where people want it, ShowMark marks their
// messages with what became of them. Turns that wait start the next run.
//
// What is owed is seen with OutboxQuery and OutboxReply, an OutboxItem each; how
// sending goes is told by EgressDelayed. A row that the platform refused for good is
// parked, and so is a message that the chat panicked over twice: RetryParked
// or DropParked settles them, ParkedSettled answers.
//
// Readers follow a chat with WatchChat and UnwatchChat, are let go with
// WatchEnded, and see it whole with ViewQuery and ViewReply. RewindChat cuts the
// history into an archive and answers ChatRewound. ForgetChat deletes all that is kept
// of a chat but its ids and numbers, and answers ChatForgotten.
//
// # Approvals
//
// A call of a tool that asks ends the run as waiting, with the request in the
// assistant message; the chat goes on meanwhile. A person decides with
// DecideApproval, or in words that the chat reads itself; a Decision names a
// request by its id, and ApprovalDecided answers with a DecisionOutcome for each.
// The decision is durable first. While the message that asked is the last one, a
// run goes on in it: StartRun carries what was approved, and every OpenRequest, so
// that nobody is asked the same twice. Otherwise the outcome is a copy of the call
// in a message of its own, in the next run or, as an ApprovedCall of ContinueRun,
// at the next step boundary of the one under way. Nothing that asks is executed
// by a run unless it came this way, a rule of the operator's covers it, or a Grant
// that the chat handed to the run. RevokeGrants takes grants back, as words in the chat
// do, and is answered with GrantsRevoked; GrantsChanged tells the run under way, before
// its next call begins. Before anybody is asked the tool says what the
// call would do: an AskedCall of StepDone. The answer is bound to that, and a call
// that would do something else by then is not executed. A request expires after
// thirty minutes. Where people have buttons, Deliver carries an Ask for each request, and
// when it has ended ShowOutcomes puts an AskOutcome in the place of its buttons, until the
// adapter answers OutcomesShown.
//
// When who asked may not decide, the chat has the request shown in the private chats of
// those who may: ShowRequest brings the ReferredRequest, RequestShown says that the
// private chat has it. What its person says goes back with DecideReferred; the chat where
// the request arose looks whether they may, makes the decision durable and answers
// ReferredDecided. However a request ends, EndRequest tells every private chat that shows
// it, until RequestEnded comes. ReferRequests asks a chat to show all that waits to one
// person, and RequestsReferred says that it did.
//
// # Long chats
//
// A chat that is longer than its budget spawns a compaction and hands it the
// history in Compact, a FoldTurn for each turn. The compaction counts, chooses what
// to fold, has the model write a summary, and answers CompactionFinished; the
// chat goes on meanwhile. Between two runs it puts the summary in the place of the
// turns, if they still are what they were, and the turns go to an archive. A run
// that had to ask sees the summary at once. When no turn can be folded, an AgedTurn
// names one that keeps its place without its large outputs; those go to an archive.
//
// The outcome of a tool can hold a ContextSwitch. The run ends as switching, the
// history goes to the chat's contexts, and a run goes on in the same message.
//
// # Skills
//
// A run reads of every Skill that there is its name and description. To load one is a
// tool, whose outcome holds a SkillOrder; the chat keeps it as a SkillPin, at the digest
// that a person agreed to. From the next step on the SkillText of every pin is in the
// system text, until it is put away or its folder has another digest.
//
// # Memory
//
// Every so many turns, and when a compaction begins, a chat hands its history to a
// memory extraction in ExtractMemory. That finds the turns which none has seen, has
// the model write down what matters for long, adds it to the chat's memory, and
// answers MemoryExtracted; neither chat nor compaction waits for it. The next
// run begins with the new memory.
//
// # Tasks
//
// The scheduler knows the times of the tasks; TasksChanged says that their files are
// other ones, RunTask starts one by hand and TaskStarted answers. A fire, the task at
// a planned time, is written down before anything happens. Then it is one AcceptIngress
// to a chat of its own, which knows it when it comes again; the scheduler watches
// that chat, and what it said last goes with PostWords to the chat of the task, which
// answers WordsPosted once it owes them. So a crash at any point repeats nothing.
//
// # Rest
//
// A shard asks an idle chat with AskPassivate. The chat folds its journal, takes
// itself off the list of chats to wake, and answers PassivateOK, or PassivateBusy.
// What arrives while it goes waits in the shard. Chats say with ChatSized how much
// they hold, shards tell the router with ShardLoad, and the router orders Shed when
// the host holds too much. WakeChat makes a chat go on
// after a start. Drain goes from the host through router and shards to the
// chats, Drained comes back when what was under way has ended; then to the adapters,
// which begin no other send whose receipt nobody would keep. StatsQuery and
// StatsReply count.
package messages
