// Package off runs programs without a sandbox, for operators who choose that. A program can do whatever the host's
// user can. Only the limits apply, and at the end its process group is killed, and with a control group everything
// that it started. Pinned files are only checked immediately before the start.
package off
