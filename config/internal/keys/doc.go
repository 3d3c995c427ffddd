// Package keys reads files of settings into structs whose tags are the table of their keys.
//
// One field is one key, and its tags say all about it:
//
//   - json: its name. A string with omitempty may be empty, meaning "not set". A field without it is not a key.
//   - default: its value if nothing sets it, as text.
//   - min and max: its range.
//   - words: the words that it takes.
//   - required: whether the block is of no use without it; only the schema says so.
//   - rule: the check of its text, by a name in [Spec]. For a list the items are checked, for a map of blocks the names,
//     and for a map of texts the entries.
//   - variable: the environment variable that is proposed for a secret.
//   - reach: "address" if a value that the folder sets needs an agreement.
//   - about: one or more sentences for people.
//
// A [Reader] decodes a file and single texts into such a struct, with the origin of every value, checks the values
// against the table, and reports all findings with their places. It knows no key by name: what follows from several
// keys is up to its caller.
package keys
