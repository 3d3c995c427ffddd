// Package prompt builds what a model reads in a chat: the system text, and the model messages of
// the history. Everything here is pure: no clock, no request ids, no files, so that the same chat
// gives the same bytes.
//
// Promises:
//
//   - The messages of a request begin with those of the one before, as long as
//     the history only grows.
//   - What people, tools and files wrote is never in the place of instructions:
//     the header of a user turn is its first part and nothing else is, and
//     documents that people fill are quoted line by line.
//   - Every call in the messages has a result, no content is empty, and every
//     input is an object: a strict provider takes any history.
//   - A user's words stay as they are, in parts of their own.
//
// The conversion itself is modelmessage.Convert; the host's additions are the passes of pass.go,
// one small function each. No other package may change what the model reads of the history.
package prompt
