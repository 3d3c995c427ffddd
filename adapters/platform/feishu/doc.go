// Package feishu is an app on the Feishu (Lark) open platform.
//
// Events arrive in one of two ways. With a webhook the service posts them, signed and encrypted; a
// request with a wrong signature or time is answered 401 and nothing of it is read. With the long
// connection the app fetches a URL, opens a websocket there and answers each event on it. Both
// answer an event only once it is durable: in its chat, or, if a chat accepts nothing at the
// moment, set aside in a file in [Options.StateDir]. The service redelivers unanswered events after
// 15 s, 5 min, 1 h and 6 h. The chat recognizes a message by its id, so redelivery is
// harmless. An event that cannot be decoded is counted, logged and answered; it does not block the
// others.
//
// The vendor's library is used for the signature and the decryption of events only. It keeps tokens
// in a cache of the whole process and hides whether a call was sent. Its long connection neither
// returns nor can be stopped, waits two minutes to reconnect, and logs what people write. Importing
// it would also link the several hundred packages of all other services. The frames of the long
// connection are four numbers, headers and a payload, which link.go reads and writes itself. A
// connection that is silent for longer than two pings is replaced; reconnecting pauses for at most
// 5 s.
//
// One pure function decides which messages the app reads ([Options.Access], [Options.Groups]);
// pairing is the task of an [AccessStore].
//
// Messages of a chat are handled one at a time, in the order in which the service delivers them.
// [Platform.Download] downloads files by the message that contains them. Rich text with images is
// one message, and so are messages that were forwarded together, whose text is requested from the
// service. A recalled message is reported to the core.
//
// Sending is one call per part: rich text, whose elements cannot be mistaken for markup, or a card
// if there are buttons. Every call that creates a message carries a uuid made from the part's id,
// so that repeating it within the hour creates no second message. All parts reply to the message
// that the first one replies to: in a topic, a message that is not a reply would begin another
// topic. Errors say precisely what happened and contain neither secret nor token.
//
// An unfinished text is written into a card, as often as the service permits for all cards of the
// app together. Capacity is reserved for its end. If the service refuses it, the card is closed and
// recalled, and the text is sent as a message.
//
// Limits of the platform: events carry no names of people, so a sender is known by its id; there is
// no event for an edited message; stickers, and files within forwarded messages, cannot be
// downloaded.
package feishu
