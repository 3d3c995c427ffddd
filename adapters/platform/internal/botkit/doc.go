// Package botkit is what the bots on messengers have in common: who may talk to the bot,
// alike on every platform that is closed by default.
//
// The owner pairs with a code that the host printed, a stranger gets a code that the
// owner may approve, and the owner lets groups in. [Admission] acts on the verdict of a
// platform's gate: it redeems codes and makes new ones, lets groups in, and words the one
// polite notice. Doing so again for a message that is delivered again does no harm. A code
// goes no further than this.
package botkit
