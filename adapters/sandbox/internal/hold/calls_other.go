//go:build linux && !amd64 && !arm64

package hold

// tables returns nil, because the system calls are unknown here: programs with pins cannot run.
func tables() []table { return nil }
