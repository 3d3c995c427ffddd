// Package filestore is the store of chats in plain files: lines of JSON that a
// person can read, copy and repair.
//
// # Layout
//
// Below the store's folder, which one process at a time has locked:
//
//	chat/<enc>/messages/history.jsonl      a UIMessage a line; a later line replaces the message with its id
//	chat/<enc>/messages/journal.jsonl      the facts not folded yet
//	chat/<enc>/messages/meta.json          the cache beside the history
//	chat/<enc>/messages/meta.jsonl         what folds changed of it since
//	chat/<enc>/messages/archive/<id>.json  lines that a rewrite took out
//	chat/<enc>/messages/quarantine/        bytes that could not be read; never deleted
//	chat/<enc>/conversations/history.jsonl the ledger; full files are history.<n>.jsonl
//	open/<shard>/<enc>                     chats that a start must wake
//
// [EncodeKey] makes <enc>. Every line of ours ends in a checksum. A line that
// begins with a space was written before what stands in front of it was forced.
//
// # Promises
//
// What was acknowledged survives a power cut: contents are forced with
// fdatasync and names by forcing their folders before an operation returns. A
// force that fails is final for the handle. A write that finds the disk full is
// cut off again and may be repeated. Chats share no lock while they write; they
// share a bound on descriptors and on operations under way.
//
// Loading keeps everything that is intact, wherever it stands. The rest is
// copied to quarantine, reported, and stays in place, but for a torn tail, which
// is cut off before anything is appended. In a chat that did not come to rest a
// hole is a torn tail too, with all behind it, if no line behind it was written
// after a force: a power cut leaves some pages of the last write and not others,
// and of that write nobody was promised anything. A history with damage in it can be
// loaded and appended to, and not rewritten.
//
// [Inspector.Verify] finds all damage and changes nothing; [Store.Repair] sets it
// aside and makes the files whole.
//
// What is left to others: the meaning of facts.
package filestore
