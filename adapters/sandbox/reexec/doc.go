// Package reexec is the entry point for processes of a sandbox that execute the host's own binary again, to set up
// the isolation or to test it.
package reexec
