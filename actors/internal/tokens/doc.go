// Package tokens says how many tokens a model reads.
//
// A cheap bound comes first: [Bound] looks at every byte once, knows no tables, and
// is never less than the real count, so that most chats are decided without a
// tokenizer. [Counter] has the tables. It reads them when it is first asked, once
// for each encoding: a third of a second and some 24 MB, never to be done by an
// actor itself.
//
// The tokenizer takes time that grows with the square of the longest piece that it
// cannot part. A counter therefore parts texts before it hands them over: prose at
// words, where nothing changes the count, and endless runs without a word after
// 256 bytes, where the count may grow by one.
package tokens
