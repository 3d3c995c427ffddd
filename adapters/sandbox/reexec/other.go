//go:build !linux

package reexec

// Main is called by main first of all. There are no sandboxes on this system.
func Main() {}
