// Package taskfile keeps tasks as files of the state folder, tasks/<id>.md, that
// people read and edit: YAML front matter and the instructions. A file that cannot be
// read is reported with the line and what to do about it; the others stand.
//
// Every change writes a new file, forces it and renames it. The fire log, the record
// of what became of the times of the tasks, is schedule/fires.jsonl: one record a line,
// forced before it counts. A line that a crash cut is left out, and the next one begins
// clean. At opening, what nobody asks for any more is left behind.
package taskfile
