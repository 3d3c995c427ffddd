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
// The chat ignores an ingress id that it knows. Otherwise it marks itself to be woken, makes the
// turn durable, and answers IngressAccepted; IngressRejected says that nothing was accepted. When
// every chat of the batch has answered, the adapter actor answers the receiver, and only then does
// the platform acknowledge the update.
//
// If no run is in progress, the chat journals the fact and spawns a run with StartRun, which
// carries the system text, the tools and the model messages of the first step. The run asks the
// modelgate with AcquireSlot, gets SlotGranted, streams the model's answer through the step engine
// and sends the chat RunProgressed with chunks; the chat reduces them into the assistant message
// and shows them to watchers as ChatProgressed. ReleaseSlot returns the slot. A stream that is cut
// is requested again: StepRestarted voids the chunks of the step so far. If the model refuses a
// request as too long, the run asks with ShortenInput; InputShortened carries the history with a
// summary in place of old turns. If no summary can be made, or it is not enough, the request leaves
// out the oldest messages; the chat keeps this Trim for the runs that follow.
//
// StepDone carries the whole response. If it has calls, the chat journals the response and the
// intents, then answers ExecuteCalls; each outcome arrives as ToolDone and is journaled. chat_send
// reaches the outbox with QueueEgress and is answered with EgressAnswer. StepEnded says that every
// call has its outcome.
//
// Then the chat is at a step boundary. Turns that arrived meanwhile wait in the lane: the assistant
// message is closed, they become user turns in the order of arrival, and ContinueRun makes the next
// step see them in a new message. A response without calls ends the run; RunFailed ends it with a
// notice; StopRun ends it durably, is answered with RunStopped, and stops the actor.
//
// The end of a run is one fact: assistant message, fates of the turns, outbox rows. Deliver hands a
// row to the adapter actor; EgressProgressed, EgressDelivered and EgressFailed come back through
// the shard; EgressKept says that the chat has the receipt, and only then is the next part sent.
// ShowDraft and ShowTyping may be lost, Deliver may not. If enabled, ShowMark marks people's
// messages with their state. Queued turns start the next run.
//
// OutboxQuery and OutboxReply list what is not delivered yet, one OutboxItem each; EgressDelayed
// reports failed tries. A row that the platform refused permanently is parked, and so is a message
// that made the chat panic twice: RetryParked or DropParked handles them, and ParkedSettled
// answers.
//
// Readers follow a chat with WatchChat and UnwatchChat, are released with WatchEnded, and read it
// whole with ViewQuery and ViewReply. RewindChat moves the end of the history into an archive and
// is answered with ChatRewound. ForgetChat deletes everything stored about a chat except its ids
// and numbers, and is answered with ChatForgotten; ForgetRows makes the adapter drop what waits.
//
// # Approvals
//
// A call that needs approval ends the run as waiting, with the request in the assistant message;
// the chat continues meanwhile. A person decides with DecideApproval, or in words that the chat
// reads itself; a Decision names a request by its id, and ApprovalDecided answers with a
// DecisionOutcome for each. The decision is made durable first. As long as the message with the
// request is the last one, a run continues in it: StartRun carries the approved calls and every
// OpenRequest, so that no person is asked the same twice. Otherwise the outcome is a copy of the
// call in a message of its own, in the next run or, as an ApprovedCall of ContinueRun, at the next
// step boundary of the current run. A run executes a call that needs approval only if it was
// approved this way, or if a rule of the operator's or a Grant that the chat handed to the run
// covers it. RevokeGrants revokes grants, as words in the chat do, and is answered with
// GrantsRevoked; GrantsChanged informs the current run before its next call starts. Before a person
// is asked, the tool says what the call would do: an AskedCall of StepDone. The approval is bound
// to that, and a call that would do something else by then is not executed. A request expires after
// thirty minutes. On platforms with buttons, Deliver carries an Ask for each request, and when a
// request has ended, ShowOutcomes replaces its buttons with an AskOutcome; it is repeated until the
// adapter answers OutcomesShown.
//
// If the person who caused a request may not decide it, the chat has it shown in the private chats
// of those who may: ShowRequest carries the ReferredRequest, RequestShown says that the private
// chat has it. That person's decision goes back with DecideReferred; the chat where the request
// arose checks whether they may decide, makes the decision durable and answers ReferredDecided.
// However a request ends, EndRequest informs every private chat that shows it, and is repeated
// until RequestEnded. ReferRequests asks a chat to show all pending requests to one person, and
// RequestsReferred says that it did.
//
// # Long chats
//
// A chat that is longer than its budget spawns a compaction and hands it the history in Compact, a
// CompactTurn for each turn. The compaction counts, chooses what to compact, has the model write a
// summary, and answers CompactionFinished; the chat continues meanwhile. Between two runs it puts
// the summary in place of the turns, if they have not changed since, and moves the turns to an
// archive. A run that had to ask sees the summary at once. If no turn can be compacted, an AgedTurn
// names one that stays without its large outputs; those move to an archive.
//
// The outcome of a tool can contain a ContextSwitch. The run ends as switching, the history moves
// to the chat's contexts, and a new run continues in the same message.
//
// # Skills
//
// A run gets the name and description of every available Skill. A tool loads a skill; its outcome
// contains a SkillOrder, and the chat keeps it as a SkillPin at the digest that a person approved.
// From the next step on, the SkillText of every pin is in the system text, until the skill is
// unloaded or the digest of its folder changes.
//
// # Memory
//
// At an interval of turns, and when a compaction starts, a chat hands its history to a memory
// extraction in ExtractMemory. The extraction finds the turns that were not read before, has the
// model write down what is of lasting use, adds it to the chat's memory, and answers
// MemoryExtracted. Neither the chat nor the compaction waits for it. The next run starts with the
// new memory.
//
// # Tasks
//
// The scheduler knows the times of the tasks; TasksChanged says that their files changed, RunTask
// starts one by hand and TaskStarted answers. A fire, the task at a planned time, is made durable
// before anything else happens. Then it is one AcceptIngress to a chat of its own, which recognises
// a repeated fire; the scheduler watches that chat and sends its last words with PostWords to the
// chat of the task, which answers WordsPosted once they are durable. So a crash at any point
// repeats nothing.
//
// # Rest
//
// A shard asks an idle chat with AskPassivate. The chat checkpoints its journal, removes itself
// from the list of chats to wake, and answers PassivateOK, or PassivateBusy. Messages that arrive
// while it stops wait in the shard. Chats report with ChatSized how much memory they use, shards
// report ShardLoad to the router, and the router orders Shed when the host uses too much. WakeChat
// makes a chat resume after a start. Drain goes from the host through router and shards to the
// chats, and Drained comes back when the work in progress has ended; then Drain goes to the
// adapters, which start no send whose receipt no chat would record. StatsQuery and StatsReply
// count, and ShardQuery and ShardReply list the chats in memory (ActiveChat). An operator's
// UnloadChat has the shard stop a chat, or stop it and load it again; ChatUnloaded answers.
package messages
