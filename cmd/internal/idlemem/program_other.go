//go:build !linux

package idlemem

// releaseProgram does nothing on this system.
func releaseProgram() {}
