// Package machine decides what a chat does. It is pure: it knows no actor, clock, random
// number or goroutine, and it writes nothing. [Chat.Decide] takes one input (a message, a
// timer that fired, the outcome of an effect) and answers with a [Plan]: what has to be
// durable first, and what happens then. The chat before stays as it was, so that a plan that
// could not be written has changed nothing.
//
// The way of one message: [Chat.Decide] → accept (ingress.go) → a fact → the answer to
// whoever brought it. Then [Idle] asks what follows: nextRun (runner.go) starts a run, and
// boundary lets turns that arrived during a run in. finish (finish.go) ends a run.
//
// What lies where:
//
//   - chat.go: the chat, its session, and which message goes where; plan.go: plans and effects.
//   - ingress.go, held.go, crowd.go, fetch.go, unheard.go, withdraw.go: messages of people.
//   - runner.go, finish.go, outcome.go, recover.go, stumble.go: runs, also after a crash.
//   - approval*.go, reply.go, referral.go (the chat that asks), referred.go (the chat that is
//     asked): requests for approval.
//   - egress.go, outbox.go, live.go, paging*.go: what people read.
//   - compaction*.go, contexts*.go, memory.go, skills.go, quoted.go: what the model reads.
//
// It reads what a decision needs beside its state through [Archive] and the functions of
// [Options].
package machine
