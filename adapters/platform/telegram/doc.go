// Package telegram is a bot on the Telegram Bot API.
//
// Receiving is a poll loop of its own: a batch of updates is handed to the core, and the next
// request acknowledges it only when all of it is durable. There is no offset file: the server keeps
// unacknowledged updates and the core recognizes those that it has handled. Temporary conditions
// (network failure, another poller, rate limits, a host that accepts nothing) are waited out with
// growing pauses of at most 5 s; only a refused token ends the loop. Polls are short, so that a
// connection that broke silently delays messages by at most ten seconds. An update that cannot be
// decoded is counted, logged and acknowledged; it does not block the others.
//
// If the host refuses the messages of one chat while it accepts those of others, that chat is set
// aside, in order: its updates are written to a file in [Options.StateDir] and synced before they
// are acknowledged, and the chat is retried, also after a restart, until it accepts them. Without
// such a folder they wait at the server and block all later updates.
//
// With [Options.Webhook] the server pushes updates instead. A request with a wrong secret is
// answered 401 before anything else of it is read; 200 means that the update is durable, and never
// waits for an answer of the model. The two ways exclude each other: polling deletes an existing
// webhook.
//
// One pure function decides which messages the bot reads ([Options.Access], [Options.Groups]);
// pairing is the task of an [AccessStore]. An edit that changes nothing of what is passed on is
// ignored, because the service reports such edits, too.
//
// Sending is one call per part: Telegram HTML, or plain text when the server cannot parse it. With
// [Options.RichMessages] formatted texts are first sent as rich messages; requests for approval,
// unfinished texts and captions are not. A picture that the server cannot display is sent as a
// document. Errors say precisely what happened and never contain the token. Delays requested by the
// server are respected, also across restarts.
package telegram
