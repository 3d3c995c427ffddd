package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// markRefused is markFail for a credential that a service refused, which has an exit code
// of its own. It is shown as markFail.
const markRefused mark = "refused"

// diagnose runs all checks in this process, with its environment and flags.
func (a *app) diagnose(ctx context.Context, dir, state string, online bool) []finding {
	found := a.examine(ctx, dir, state)
	if loaded, err := a.load(dir, false); online && err == nil {
		found = append(found, a.askTrusted(ctx, dir, state, loaded)...)
	}
	return found
}

// findings are those of the host that runs, since what it needs is in its environment, or
// else those of this terminal.
func (a *app) findings(ctx context.Context, dir, state string, online bool) ([]finding, error) {
	what := aboutDoctor
	if online {
		what = aboutDoctorOnline
	}
	return askRunning(ctx, a, state, what, func() ([]finding, error) { return a.diagnose(ctx, dir, state, online), nil })
}

// verdictOf is the exit code of findings. It replaces markRefused by the mark that people see.
func verdictOf(found []finding) int {
	code := CodeOK
	for i, f := range found {
		switch {
		case f.Mark == markRefused:
			found[i].Mark, code = markFail, CodeCredential
		case f.Mark == markFail && code == CodeOK:
			code = CodeFailed
		}
	}
	return code
}

// unwritable is the first folder or file of the host's own below the state folder that
// this user cannot write, or "". Chats are folders of a folder, so three levels hold one of
// each kind. What people put there themselves may well be read-only.
func unwritable(state string) string {
	found := ""
	_ = filepath.WalkDir(state, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(state, path) // both are absolute
		switch {
		case rel == "skills" || rel == "config":
			return fs.SkipDir
		case err != nil, !ours(path, e):
			found = path
			return fs.SkipAll
		case e.IsDir() && strings.Count(rel, string(filepath.Separator)) >= 2:
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// ours reports whether the host can write a folder, or a file that it would append to. A
// read-only file of the user's own can be replaced and is none of those.
func ours(path string, e fs.DirEntry) bool {
	if !e.IsDir() && !e.Type().IsRegular() || unix.Access(path, unix.W_OK) == nil {
		return true
	}
	info, err := e.Info()
	if err != nil {
		return true // it is gone
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !e.IsDir() && (!ok || int(stat.Uid) == os.Getuid())
}

// mayWrite is what helps when the state folder cannot be written.
func mayWrite(state string) string {
	return fmt.Sprintf("sudo chown -R %d %s, or run as the user who owns it", os.Getuid(), shellWord(state))
}
