// Package memory is the actor that extracts facts from a chat, so that they are remembered after
// the conversation no longer contains them.
//
// It is a child of the chat, gets the turns unchanged, asks the model through the gate, writes the
// facts to the chat's memory, answers once and is then stopped by the chat, which continues
// meanwhile. A mark records how far it has read: facts and mark are written to disk together, so
// that no turn is read twice and none is skipped; a failure changes neither, and the next
// extraction reads turns that were compacted meanwhile from the archive.
//
// The text of the chat is passed to the model as JSON in a user message. Only lines of the answer
// in the form of facts with their source turns become facts: one line each, dated by the turn. They
// are quoted wherever a model reads them.
//
// A memory that became too long is condensed, after a copy was made. Its front matter does not
// change, and nothing changes if the model fails, makes it longer, or a person edited it meanwhile.
package memory
