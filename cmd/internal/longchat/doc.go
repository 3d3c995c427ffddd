// Package longchat drives one chat through very many turns, with the real actors,
// the real file store and a written model, and shows what a turn costs as the chat
// grows older: `make longchat`. It consists of a test only.
//
// The test asserts that nothing is lost however long the chat is: every turn is
// answered once, and history and archives together hold all of them. What a turn costs
// is printed for each window of turns, and compared only where it runs alone.
package longchat
