// Package linefile is the format of the files of lines that the store writes, and the reader of
// such files, which may be damaged anywhere.
//
// A line is a JSON object: a turn of a history, a record of a journal, an entry of a ledger, or a
// change of a meta. The store seals it with a checksum; lines that other programs wrote have none.
// [Scan] finds every intact line, also within damaged or glued ones, and reports every other byte.
//
// It reads only. What happens to damage, and in which order data becomes durable, is decided by the
// store.
package linefile
