//go:build !linux

package vfs

// Datasync implements File.
func (f osFile) Datasync() error { return f.Sync() }
