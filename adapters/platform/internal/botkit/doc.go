// Package botkit holds what bots on messengers have in common, so that a platform only implements
// the protocol of its service.
//
//   - [Intake] hands events to the host until they are durable; [Hook] serves a service's
//     requests; [Status] reports a receiver's health.
//   - [Gate] decides which messages the bot reads. It is a pure function of the [Facts] that a
//     platform states about a message and of the [Rules] for its chat.
//   - [Admission] acts on that verdict. The owner pairs with a code that the host printed, a
//     stranger gets a code that the owner may approve, and the owner gives groups access. It
//     words the single polite notice. Repeating it for a redelivered message is harmless. Codes
//     are not passed on beyond this package.
//   - [Decided] and [Admission.Choose] word the outcome of a press on a button.
//   - [StateFile] and the functions on texts are small tools.
package botkit
