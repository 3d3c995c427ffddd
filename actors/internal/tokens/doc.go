// Package tokens counts the tokens that a model reads.
//
// A cheap bound comes first: [Bound] looks at every byte once, needs no tables, and is never less
// than the real count, so that most chats are decided without a tokenizer. [Counter] has the
// tables. It reads them at its first use: that takes a tenth of a second
// and some 24 MB, so an actor must not do it in Receive.
//
// The tokenizer takes time that grows with the square of the longest piece that it cannot split. A
// counter therefore splits texts first: prose at words, where the count does not change, and long
// runs without a word after 256 bytes, where the count may grow by one.
package tokens
