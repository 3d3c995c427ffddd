//go:build linux

package hold

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// look reports whether a call may find a pinned name; in doubt, it returns true. It considers only what the name
// leads to while everything is in place; whether that is so is checked afterwards.
func (g *Guard) look(n *notice, c call, name string) bool {
	if name == "" {
		return c.exec // an open file, which was checked when it was opened; its interpreter has a name
	}
	named := g.names[path.Base(name)]
	abs, err := g.absolute(n, c, name)
	if err != nil {
		return true
	}
	at, err := g.open(abs, 0)
	if err != nil {
		return named || g.unresolved(abs, err)
	}
	defer func() { _ = unix.Close(at) }() // it was only checked
	var st unix.Stat_t
	if unix.Fstat(at, &st) != nil {
		return true
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false // opening it may block, and it is not a pin
	}
	for _, p := range g.places {
		if uint64(st.Dev) == p.dev && st.Ino == p.ino { //nolint:unconvert // the types differ between machines
			return true
		}
	}
	target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", at))
	return err != nil || named || g.names[path.Base(target)] || c.exec && !g.system(target)
}

// open opens a name as the program sees it, for inspection only.
func (g *Guard) open(abs string, flags uint64) (int, error) {
	return unix.Openat2(int(g.root.Fd()), below(abs), &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: unix.RESOLVE_IN_ROOT})
}

// absolute makes a name absolute.
func (g *Guard) absolute(n *notice, c call, name string) (string, error) {
	if path.IsAbs(name) {
		return name, nil
	}
	base := fmt.Sprintf("/proc/%d/cwd", n.Pid)
	if c.dir >= 0 && int32(n.Args[c.dir]) != unix.AT_FDCWD { //nolint:gosec // it is signed
		base = fmt.Sprintf("/proc/%d/fd/%d", n.Pid, int32(n.Args[c.dir])) //nolint:gosec // as above
	}
	dir, err := os.Readlink(base)
	if err != nil {
		return "", err
	}
	return dir + "/" + name, nil
}

// unresolved decides about a name that the host cannot resolve. Missing files are missing for everyone, but paths
// through a process's own links can be resolved only by that process.
func (g *Guard) unresolved(abs string, err error) bool {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		at, err := g.open(abs, unix.O_NOFOLLOW)
		if err == nil {
			_ = unix.Close(at) // it was only checked
			return true        // a link
		}
		return beyondProcess(abs)
	}
	return true
}

// beyondProcess reports whether a path continues after an open file, the working folder or the root of a process,
// such as /proc/self/cwd/run.sh.
func beyondProcess(abs string) bool {
	abs = path.Clean(abs)
	if rest, ok := strings.CutPrefix(abs, "/dev/fd/"); ok {
		return strings.Contains(rest, "/")
	}
	if !strings.HasPrefix(abs, "/proc/") {
		return false
	}
	parts := strings.Split(abs, "/")
	for i, p := range parts {
		if (p == "cwd" || p == "root") && i+1 < len(parts) || p == "fd" && i+2 < len(parts) {
			return true
		}
	}
	return false
}

// system reports whether a path is in the system's folders.
func (g *Guard) system(at string) bool {
	for _, dir := range g.watch.System {
		if at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

// below converts an absolute path to one relative to the root.
func below(abs string) string {
	if rest := strings.TrimLeft(abs, "/"); rest != "" {
		return rest
	}
	return "."
}
