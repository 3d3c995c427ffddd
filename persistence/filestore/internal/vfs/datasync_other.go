//go:build !linux

package vfs

// Datasync implements File.
func (f osFile) Datasync() error { return f.Sync() }

// Reread implements File. On this system, reading may return what is in memory.
func (f osFile) Reread() error { return nil }
