// Package access keeps who may talk to the host's bots: the owner and the approved people of each
// account, the allowed groups, and the open pairing codes, all in one file, `.ship/access.json`.
//
// A [Store] is safe for concurrent use, also by several processes. Changes are made under a lock
// file, based on the current content of the file, and replace the file atomically with mode 0600.
// Readers notice when the file changes. A file that cannot be read is reported and never
// overwritten; while a host runs, the last readable state stays in force.
//
// Codes have eight characters that cannot be mistaken for others. They are valid for an hour and
// for one use, and are compared in constant time. After five wrong codes a person has to wait for
// an hour.
package access
