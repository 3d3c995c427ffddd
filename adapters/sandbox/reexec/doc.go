// Package reexec is the door through which a sandbox comes back into the host's
// own binary: to put up walls, or to try them.
package reexec
