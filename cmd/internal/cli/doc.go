// Package cli holds the commands of the binary. Data goes to stdout, messages for people to stderr; every reading
// command has --json. Failures say what failed, why, and which command helps, and end with one of the exit codes of
// the package console, which the commands are made with.
//
// A command gets all external resources passed in, so that the same code runs in the binary and in tests. No command
// prints a secret.
package cli
