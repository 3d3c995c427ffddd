// Package compaction is the actor that makes a summary of the older part of a chat. It is a child
// of the chat, gets the turns unchanged, asks the model through the gate like a run does, answers
// once, and is then stopped by the chat. The chat continues meanwhile and decides whether to use
// the answer.
//
// Turns are counted exactly here, outside the actor's goroutine, while the chat itself only knows
// upper bounds. What may be compacted follows from cut: never a part of a turn, so that a call
// keeps its result; never a turn with a call that waits for a person; never across an open turn; at
// least Keep turns stay unless they alone are more than half of the budget.
//
// The text of the chat is passed to the model as JSON in a user message. The result is text of an
// assistant turn only: it never becomes system text. Names, numbers and addresses that the model
// left out are appended to it unchanged.
package compaction
