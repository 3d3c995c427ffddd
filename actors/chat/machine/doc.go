// Package machine decides what a chat does. It is pure: it uses no actors, clocks, random numbers or goroutines, and
// it writes nothing. [Chat.Decide] takes one input (a message, a timer, the result of an effect) and returns a [Plan]:
// what must be durable first, and what happens then. The chat before the decision is not changed, so that a plan that
// could not be written has no effect.
//
// The path of a message: [Chat.Decide] → accept (ingress.go) → a fact → the answer to the sender. Then [Idle] asks
// what follows: nextRun (runner.go) starts a run, and boundary admits turns that arrived during a run. finish
// (finish.go) ends a run.
//
// The files:
//
//   - chat.go: the chat, its session, and the dispatch of messages; plan.go: plans and effects.
//   - ingress.go, waiting.go, flood.go, fetch.go, voice.go, recall.go: messages of people.
//   - runner.go, finish.go, outcome.go, recover.go, crash.go: runs, also after a crash.
//   - approval*.go, reply.go, grants.go, referral.go (the chat that asks), referred.go (the chat that is asked):
//     requests for approval. What words about them mean, the book of grants and what other chats are told are in
//     rooms of their own, below actors/chat/approval.
//   - egress.go, outbox.go, post.go, live.go, paging.go: what people read.
//   - compaction*.go, contexts.go, memory.go, skills.go, quoted.go: what the model reads.
//
// It reads further data that a decision needs through [Archive] and the functions of [Options].
package machine
