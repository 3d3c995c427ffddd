// Package actors is the tour of the actors. There is one package for each of them below
// this one. What every message means is in the comment of package messages.
//
// # The way of one message
//
// In brackets are the files to open.
//
//  1. A platform's receiver reads an update and maps it to a platform.Inbound, with whether it
//     mentions the bot or replies to it (adapters/platform/telegram/mapper.go). The gate decides
//     whether the message is addressed to the bot (adapters/platform/internal/botkit/gate.go), by
//     these facts and what the owner allows (adapters/platform/telegram/admit.go).
//  2. The receiver asks the adapter actor of its account (actors/adapter/ingress.go), and
//     that asks the router, which finds the shard (actors/router/actor.go). The shard finds
//     or spawns the chat (actors/shard/actor.go).
//  3. The chat decides (actors/chat/machine/ingress.go, accept). A redelivered update is
//     known by its ingress id there; a chat remembers its 4,096 newest ids
//     (persistence/journal/ids.go). Otherwise acceptTurn plans the turn, and the shell of the
//     chat writes it and then answers (actors/chat/shell.go, perform and write). Now the message
//     is durable, and only now does the platform confirm it. What a chat refuses for long is stored
//     durably by its bot until the chat takes it (adapters/platform/internal/botkit/intake.go).
//  4. Without a run in progress the chat starts one (actors/chat/machine/run.go,
//     whatFollows and nextRun). There is at most one: whatFollows asks for a run only if the
//     state has none, and one actor decides for the chat. A turn that arrives during a run
//     waits in the lane (persistence/journal/apply.go, turnAccepted) until the next step
//     boundary (actors/chat/machine/run.go, boundary and merge).
//  5. The run gets the system text (order of its parts: actors/internal/prompt/system.go) and
//     the messages, waits for a slot (actors/modelgate) and asks the model
//     (actors/run/step.go). The step engine turns events into chunks (actors/internal/loop).
//  6. Calls of tools: rules, grants and the tool's own policy, such as CheckCall of
//     adapters/tool/shell/exec.go, decide whether a call runs or a person is asked
//     (actors/run/rules.go, decide). The chat journals the intents
//     before a call begins (actors/chat/machine/run.go, stepDone).
//  7. A person's answer is bound to what they saw and becomes a fact
//     (actors/chat/machine/requests: press.go; words: reply.go; evaluate.go says whether the
//     answer is valid or late). If other messages have followed since, the chat puts a copy of
//     the call into a new message and runs that (requests/opening.go, Copies); otherwise the
//     message that asked continues (actors/chat/machine/outcome.go, continueRun and beginOutcome).
//     The run executes what was approved (actors/run/tools.go, executeApproved).
//  8. The end of a run is one fact: the assistant message, the fates of its turns and the
//     rows that it owes (actors/chat/machine/finish.go). The adapter actor sends the rows in their
//     order (actors/adapter/lane.go) and reports receipts (actors/chat/machine/egress.go).
//  9. The chat compacts if its estimate says that it is too long, or if a person says so
//     (actors/chat/machine/compaction.go, compactIfLong and compactNow), or if a model refuses a
//     request as too long (compaction_child.go, shorten); the child counts
//     and chooses (actors/compaction/plan.go).
//
// What a chat writes is in persistence/journal: a fact is a row in its table (facts.go), and
// the state changes only in that package. The files are those of persistence/filestore.
//
// # The supervision tree
//
//	guardian                       one per host: spawns and supervises the actors below
//	├─ router                      one per host: chat key -> shard, nothing else
//	│  └─ shard (256)              hash bucket: spawns its chats, knows their PIDs, passivates without loss
//	│     └─ chat                  one per chat: owns history, lane, outbox; serialises runs
//	│        ├─ run                at most one: executes the steps of a run
//	│        ├─ compaction         at most one: makes a summary of old turns
//	│        └─ memory             at most one: takes facts from new turns
//	├─ adapter                     one per account: ingress in, egress out in order per chat, rates, watchers
//	├─ modelgate                   one per host: bounded, fair admission of model calls
//	└─ scheduler                   one per host: runs tasks at their times, each time once
//
// The guardian restarts a child that panics, first at once and then after waits that double. If
// that does not help, or a child ends by itself, the guardian gives up: /readyz turns red and the
// process exits with a failure. The router supervises its shards in the same way and fails itself
// if restarting one does not help.
//
// A chat that panics is restarted alone, after a growing wait, and loads its state from its store;
// after six panics in a row it is parked for a while. Runs are stopped, never restarted. Router and
// shard recover from panics in their handlers, because a panic there would stop every child. A
// message of a kind that an actor does not know changes nothing and is reported as Stray.
package actors
