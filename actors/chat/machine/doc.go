// Package machine decides what a chat does. It is pure: it uses no actors, clocks, random numbers or goroutines, and
// it writes nothing. [Chat.Decide] takes one input (a message, a timer, the result of an effect) and returns a [Plan]:
// what must be durable first, and what happens then. The chat before the decision is not changed, so that a plan that
// could not be written has no effect.
//
// The path of a message: [Chat.Decide] → accept (ingress.go) → a fact → the answer to the sender. Then
// [decision.Idle] asks what follows: nextRun (run.go) starts a run, and boundary admits turns that arrived during a
// run. finish (finish.go) ends a run.
//
// The files, which call each other in one direction only:
//
//   - chat.go: the chat, its session, and the dispatch of messages.
//   - ingress.go, recall.go, flood.go, forget.go, stop.go, command.go: messages of people.
//   - recover.go, crash.go: after a crash.
//   - run.go, finish.go, outcome.go, runner.go: runs.
//   - egress.go, post.go, live.go, rows.go, asks.go, notices.go: what people read.
//   - contexts.go, compaction*.go, request.go, prefix.go: what the model reads.
//   - rest.go: when a chat may rest.
//
// The other parts have packages of their own below this one. Each plans with [decision.Base] and knows neither the
// chat nor the other parts: requests (for approval), paging, quoting, files, memory, system and outbox.
package machine
