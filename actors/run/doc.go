// Package run is the actor of one run: it executes the steps that its chat lets
// it make. It asks the model gate for a slot, streams the model's answer through
// the step engine, tells the chat what came, starts tools only after the chat
// has journaled the response, and brings their outcomes home.
//
// A run owns nothing durable and decides nothing about the chat: the chat hands
// it an immutable input for every step. It is stopped, never restarted; what a
// new run needs to go on is in the journal.
package run
