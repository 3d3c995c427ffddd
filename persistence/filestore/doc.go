// Package filestore is the store of chats in plain files: lines of JSON that a
// person can read, copy and repair.
//
// # Layout
//
// Below the store's folder, which one process at a time has locked:
//
//	chat/<enc>/messages/history.jsonl      a UIMessage a line; a later line replaces the message with its id
//	chat/<enc>/messages/journal.jsonl      the facts since the last checkpoint
//	chat/<enc>/messages/meta.json          the cache of the history
//	chat/<enc>/messages/meta.jsonl         its changes by later checkpoints
//	chat/<enc>/messages/archive/<id>.json  lines that a rewrite removed
//	chat/<enc>/messages/quarantine/        bytes that could not be read; never deleted
//	chat/<enc>/conversations/history.jsonl the ledger; full files are history.<n>.jsonl
//	open/<shard>/<enc>                     chats to wake at a start
//
// [chatpath.Encode] makes <enc>. Every line of the store ends in a checksum. A line that starts with a
// space was written before the line in front of it was fsynced.
//
// # Promises
//
// Acknowledged data survives a power cut: contents are written with fdatasync and names with an
// fsync of their folders before an operation returns. An fsync that fails is final for the handle.
// A write that finds the disk full is cut off again and may be retried. Chats share no lock while
// they write; they share limits of descriptors and of concurrent operations.
//
// Loading keeps everything that is intact, at any position. The rest is copied to quarantine,
// reported, and stays in place, except for a torn tail, which is cut off before the next append. In
// a chat with unfinished work a hole counts as a torn tail too, with all that follows it, if no
// later line was written after an fsync: a power cut keeps some pages of the last write and loses
// others, and that write was not acknowledged. A damaged history can be loaded and appended to, but
// not rewritten.
//
// [Inspector.Verify] finds all damage and changes nothing; [Store.Repair] moves it to quarantine
// and makes the files intact.
//
// The meaning of facts is left to others. The format of a line, and the search for intact lines in a
// damaged file, are package linefile.
package filestore
