// Package request interprets what a client of the AI SDK asks of a chat.
//
// It is pure, except for new ids: [ParseChat] reduces a request to what may be trusted, and [Decide]
// plans it, given the chat. It promises that the history is authoritative: of a client's messages
// only the newest text and files count, and of an answer to a request for approval only its id, yes
// or no, and the reason. A request that is sent again, under the same message id or Idempotency-Key,
// is planned as a repetition of the same turn.
package request
