// Package taskfile stores tasks as files of the state folder, tasks/<id>.md, that people read and
// edit: YAML front matter and the instructions. A file that cannot be read is reported with the
// line and what to do about it; the others are not affected.
//
// The fire log, schedule/fires.jsonl, records the outcomes of the times of the tasks: one record a
// line, durable before it counts. A line that a crash cut is skipped, and the next record starts a
// new line. When the log is opened, records that are no longer needed are removed.
package taskfile
