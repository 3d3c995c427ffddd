// Package adapter is the actor between one platform and the chats: it takes what
// the platform's receiver hands over to the router, sends what chats owe to
// people, and lets readers follow chats as they happen.
//
// Egress is in order per chat and never two parts of a chat at a time. Rates are
// sliding windows, per chat, per group and for the whole account. What fails for
// now is tried again with full jitter, honouring the service's own wait; what
// fails for good, or too often, goes back to the chat, which parks it. The actor
// keeps nothing durable: a row belongs to its chat until the chat has its receipt.
package adapter
