// Package cli holds the commands of the binary. Data goes to stdout, words to
// stderr; every reading command has --json. Failures say what failed, why, and
// one command that helps, and end with an exit code of the table in exit.go.
//
// A command gets everything it touches passed in, so that the same code runs in
// the binary and in tests. No command prints a secret.
package cli
