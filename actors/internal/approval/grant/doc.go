// Package grant decides whether a command runs without asking because a person granted a rule for a limited time, such
// as "within 10 minutes allow git status".
//
// Promises:
//
//   - Decide is pure and deterministic: it uses no clock, file system or model. It accepts any bytes, never
//     panics, and takes well under a millisecond for the longest command that it considers.
//   - When in doubt, the verdict is Ask. Auto is only given to a single simple command whose words are all known
//     without running anything, and are all allowed by the rule or by the lists of the Policy.
//   - The words that are checked are the words that a shell runs. Two parsers must agree on them: the scanner of
//     this package, which knows only plain words, and a full parser of the bash grammar.
//
// The lists are in policy.json: options that only display something, programs that run other programs, names that are
// never allowed.
//
// The caller decides for whom, where and how long a rule is valid, and must run exactly the bytes that were checked.
package grant
