// Package filestoretest is a disk for tests of the file store: it tracks what is written apart from
// what is durable, and can produce every state that a power cut may leave. It has no goroutines, no
// clock and no dependence on map order: the same calls and the same choices give the same disk.
//
// # What is durable
//
//   - The contents and the size of a file: after Datasync of that file.
//   - A name (made, renamed, removed): after SyncDir of the folder it is in.
//     An fsync of a file does not cover its name, and the name of a folder is in
//     its parent folder.
//
// # Which states are legal
//
// Everything else may be there, not be there, or be there in part:
//
//   - Contents reach the disk in pages of 4 KiB, each on its own and in any
//     order. A page has one of the contents it had since the last fsync, or is
//     torn between two of them at a multiple of 512 bytes: a disk only promises
//     whole sectors.
//   - The sizes of one file reach the disk in their order. A size may be there
//     before the pages it covers; these read as zeros. Data written to pages
//     after a truncation freed them is at other places of the disk, so it never
//     appears under a size from before the truncation.
//   - Names of all folders reach the disk in the order of the operations, as
//     with a file system that has a journal; or any of them without the others,
//     as POSIX allows. A rename is atomic. Names and contents are independent: a
//     renamed file may be empty.
//   - A Datasync that fails has written an arbitrary part of the data, and the
//     machine marks all of it as clean: no later fsync writes it again, although
//     reading returns it until the file is read again from the disk or the power
//     fails. Names are in a journal that retries or stops completely, so after a
//     failed SyncDir the next one is valid.
//
// The end of a process loses nothing that was written, see [Disk.Kill]; a power cut is
// [Disk.Crash].
package filestoretest
