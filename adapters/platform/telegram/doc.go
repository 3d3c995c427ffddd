// Package telegram is a bot on the Telegram Bot API.
//
// Receiving is a poll loop of its own: a batch of updates is handed to the core
// and only when all of it is durable does the next request confirm it. There is
// no offset file: the server keeps what is not confirmed and the core knows what
// it has handled. Whatever can be waited out (network gone, another poller, rate
// limits, a host that takes nothing) is waited out with growing pauses of at most
// 5 s; only a refused token ends the loop. Polls are short, so that a connection
// that died without a word holds nothing up for more than ten seconds. An update
// that cannot be read is counted, logged and confirmed, and stops nobody.
//
// A chat whose messages the host refuses while it takes those of others is set
// aside, in order, so that it holds nobody up: its updates are written to a file
// of [Options.StateDir] and synced before they are confirmed, and the chat is
// asked again, also after a restart, until it takes them. Without such a folder
// they wait at the server, and everything behind them too.
//
// With [Options.Webhook] the server brings updates instead. A request whose secret
// is not right is answered 401 before anything else of it is looked at; 200 means
// that the update is durable, and never waits for an answer of the model. The two
// ways exclude each other: polling deletes a webhook that is in the way.
//
// Who is heard is decided by one pure function ([Options.Access], [Options.Groups]);
// pairing people is the business of an [AccessStore]. An edit that changes nothing of
// what is passed on is ignored: the service reports such edits, too.
//
// Sending is one call per part: Telegram HTML, plain text when the server cannot
// read it. With [Options.RichMessages] formatted texts go as rich messages first;
// requests for approval, unfinished texts and captions do not. A picture that the server
// does not show goes as a document. Errors say precisely what happened and never hold
// the token. A wait that the server asks for is kept, over a restart too.
package telegram
