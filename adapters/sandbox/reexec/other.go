//go:build !linux

package reexec

// Main must be called first in main. It does nothing, because this system has no sandboxes.
func Main() {}
