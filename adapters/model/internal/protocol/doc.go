// Package protocol is the contract between the client of models and the protocols it speaks, with
// what the protocols share: how a growing conversation is encoded only once, and how model messages
// become the messages of a provider.
//
// Promises:
//
//   - The same request always gives the same bytes, and a request that only grew begins with the
//     bytes of the previous one: what never changes in a chat comes first, messages last.
//   - Bytes that were returned are never changed, so that they may still be sent.
package protocol
