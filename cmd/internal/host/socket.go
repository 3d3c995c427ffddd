package host

import "path/filepath"

// SocketPath is where the control socket of a state folder is.
func SocketPath(state string) string { return filepath.Join(state, "control.sock") }
