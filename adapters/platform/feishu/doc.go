// Package feishu is an app on the Feishu (Lark) open platform.
//
// Events come in one of two ways. By webhook the service posts them, signed and
// encrypted; a request whose signature or time is not right is answered 401 and
// nothing of it is read. Over the long connection the app fetches an address, opens
// a websocket there and answers each event on it. Both answer an event only once it
// is durable: with its chat, or, where a chat takes nothing for the moment, set
// aside in a file of [Options.StateDir]. The service brings what was not answered
// again after 15 s, 5 min, 1 h and 6 h; the core knows a message by its id for
// ever, so coming again does no harm. An event that cannot be read is counted,
// logged and answered, and stops nobody.
//
// The vendor's library gives the signature and the decryption of events. The rest
// is our own: the library keeps tokens in a cache of the whole process, hides
// whether a call was sent, and its long connection neither returns nor can be
// stopped, waits two minutes to reconnect, and logs what people write; to import it
// would also link the several hundred packages of all other services. The frames of
// the long connection are four numbers, headers and a payload, which link.go reads
// and writes by itself. What is silent for longer than two pings is dead and is
// replaced; reconnecting pauses for at most 5 s.
//
// Who is heard is decided by one pure function ([Options.Access], [Options.Groups]);
// pairing people is the business of an [AccessStore].
//
// Messages of a chat are taken one at a time, in the order that the service brings
// them. Files are handed out by [Platform.Download], by the message they are in; rich
// text with images is one message, and so is what was forwarded together, whose words
// the service is asked for. A message that was taken back is told to the core.
//
// Sending is one call per part: rich text, whose elements cannot be mistaken for
// marks, or a card where there are buttons. Every call that makes a message carries
// a uuid made of the part's id, so that one repeated within the hour makes no second
// message. All parts answer what the first one answers: in a topic, what answers
// nothing would begin another one. Errors say precisely what happened and hold neither
// secret nor token.
//
// A text under way is written into a card, as often as the service lets all cards of
// the app be written. Its end always has room. Where the service does not take it, the
// card is closed and taken back, and the text comes as a message.
//
// Limits of the platform: events carry no names of people, so a sender is known by
// its id; there is no event for a message that was edited; stickers, and files within
// forwarded messages, are never handed out.
package feishu
