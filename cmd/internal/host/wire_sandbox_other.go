//go:build !linux

package host

// sandboxes are those that a setting allows: there is none for this system.
func sandboxes(string) []func() checkedSandbox { return nil }
