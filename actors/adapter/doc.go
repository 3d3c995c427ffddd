// Package adapter is the actor between one account of a platform and the chats: it takes
// messages in from the platform's receiver, sends what chats owe to people, and lets
// readers follow chats as they happen. The receiver knows only a [Port], which asks the
// actor.
//
// Ingress is in order per chat, because every message of the account passes the actor's
// mailbox. The actor asks all chats of a batch at once and goes on with its mailbox, so a
// slow chat delays no other. It answers a batch when every turn of it is durable or
// refused; that answer is the mark up to which the platform may be confirmed.
//
// Egress is in order per chat and never two parts of a chat at a time; the next
// part waits until the chat has the receipt of the last one, so that a crash hides
// one send at most. Rates are sliding windows, per chat, per group and for the
// whole account, where chats stand in line. A wait that the service asks for holds
// its chat, or everybody when it asks one chat after another. What fails for now is
// tried again with full jitter; after a send without an answer the platform is
// first asked for something harmless. What fails for good, or too often, goes back
// to the chat, which parks it.
//
// The actor keeps nothing durable: a row belongs to its chat until the chat has
// its receipt. What it owes and how fast it may send outlives a panic: the restarted
// actor goes on at once, and parks a row that makes it panic again and again.
package adapter
