// Package access keeps who may talk to the host's bots: the owner and the
// approved people of each account, the groups let in, and the pairing codes that
// are open, all in one file, `.ship/access.json`.
//
// A [Store] is safe for concurrent use, also by several processes: changes are
// made under a lock file, on what the file holds at that time, and replace the
// file in one step with mode 0600; readers notice a file that changed. A file
// that cannot be read is reported and never overwritten; while a host runs, the
// last state that could be read stays in force.
//
// Codes have eight characters that cannot be mistaken for others, hold for an
// hour, are good for one use, and are compared in constant time. Who tries five
// wrong ones has to wait for an hour.
package access
