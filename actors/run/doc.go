// Package run is the actor of one run: it executes the steps that its chat allows. It asks the
// model gate for a slot, streams the model's answer through the step engine, sends the chunks to
// the chat, starts tools only after the chat has journaled the response, and reports their
// outcomes.
//
// A run has no durable state and decides nothing about the chat: the chat gives it an immutable
// input for every step. It is stopped, never restarted; everything that a new run needs to continue
// is in the journal.
package run
