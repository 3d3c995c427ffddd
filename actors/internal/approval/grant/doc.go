// Package grant decides whether a command runs without asking, because a person
// granted a rule for a limited time: "within 10 minutes allow git status".
//
// Promises:
//
//   - Decide is pure and deterministic: no clock, no file system, no model. It
//     takes any bytes, never panics and needs well under a millisecond for the
//     longest command that is checked at all.
//   - In doubt the verdict is Ask. It is Auto only for one simple command whose
//     words are all known without running anything, and are all allowed by the
//     rule or the lists of the Policy.
//   - The words that were checked are the words that a shell runs. Two parsers have
//     to agree on them: the scanner of this package, which knows only plain words,
//     and a full parser of the bash grammar.
//
// The lists are in policy.json: options that only display, programs that run other programs, names
// that no operand may have. Operators may extend them with Policy.Extend but not remove anything.
//
// The caller has to check for whom, where and how long a rule applies, and has to run exactly the
// bytes that were checked.
package grant
