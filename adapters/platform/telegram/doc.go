// Package telegram is a bot on the Telegram Bot API.
//
// Receiving is a poll loop of its own: a batch of updates is handed to the core
// and only when all of it is durable does the next request confirm it. There is
// no offset file: the server keeps what is not confirmed and the core knows what
// it has handled. Whatever can be waited out (network gone, another poller, rate
// limits, a host that takes nothing) is waited out with growing pauses of at most
// 5 s; only a refused token ends the loop. An update that cannot be read is
// counted, logged and confirmed, and stops nobody. A chat whose messages the host
// refuses while it takes those of others is set aside, in order, so that it holds
// nobody up; it is asked for again until it takes them.
//
// Who is heard is decided by one pure function ([Options.Access], [Options.Groups]);
// pairing people is the business of an [AccessStore].
//
// Sending is one call per part: Telegram HTML, plain text when the server cannot
// read it. Errors say precisely what happened and never hold the token.
package telegram
