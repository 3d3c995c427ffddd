//go:build !linux

package host

// sandboxes returns nil, because no sandbox supports this system.
func sandboxes(string) []func() checkedSandbox { return nil }
