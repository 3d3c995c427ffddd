// Package botkit is what the bots on messengers have in common, so that a platform only says
// how its service works.
//
//   - [Intake] hands events to the host until they are durable; [Hook] serves a service's
//     requests, [Status] reports how a receiver does.
//   - [Gate] decides who is heard. It is a pure function of the [Facts] that a platform gives of
//     a message and of the [Rules] of its chat.
//   - [Admission] acts on that verdict. The owner pairs with a code that the host printed, a
//     stranger gets a code that the owner may approve, and the owner lets groups in. It words the
//     one polite notice. Repeating it for a message that is delivered again does no harm. A code
//     goes no further than this.
//   - [Decided] and [Admission.Choose] word what became of a press on a button.
//   - [StateFile], [Metrics] and the functions on texts are small tools.
package botkit
