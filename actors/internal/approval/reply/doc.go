// Package reply reads a person's answer to requests for approval: yes, no, yes to some of them, or
// a rule for a limited time.
//
// Promises:
//
//   - Parse is pure and deterministic: no clock, no file system, no model. It
//     takes any bytes and never panics.
//   - Only closed lists of phrases and a small grammar mean anything, and only
//     when they are the whole reply. Everything else is Unclear: it decides
//     nothing and goes to the model, which cannot approve.
//   - A reply that can be read in two ways with different meanings is Unclear.
//   - Commands are compared as they were shown, byte for byte; only phrases are
//     compared without regard to case, width and blanks.
//   - A timed grant lasts from 1 to 60 minutes, and each of its rules is valid and
//     covers something that waits, as package grant judges it.
//
// The caller determines who may answer, and which requests the numbers of a reply mean.
package reply
