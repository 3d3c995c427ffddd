// Package reply interprets a person's reply to requests for approval: yes, no, yes to some of them, or a rule for a
// limited time.
//
// Promises:
//
//   - Parse is pure and deterministic: it uses no clock, file system or model. It accepts any bytes and never
//     panics.
//   - Only fixed lists of phrases and a small grammar have a meaning, and only as the whole reply. Everything else
//     is Unclear: it decides nothing and goes to the model, which cannot approve.
//   - A reply that can be read in two ways with different meanings is Unclear.
//   - Commands are compared byte for byte with what was shown. Only phrases are compared without regard to case,
//     width and blanks.
//   - A timed grant lasts from 1 to 60 minutes, and each of its rules is valid and covers a pending command
//     according to package grant.
//
// The caller decides who may reply and which requests the numbers in a reply refer to.
package reply
