package checkup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
)

// minFree is how much free space the disk should have.
const minFree = 256 << 20

// State checks the state folder without creating it.
func State(state string) []Finding {
	info, err := os.Lstat(state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		up := existing(state)
		if err := unix.Access(up, unix.W_OK|unix.X_OK); err != nil {
			return []Finding{New("state", Fail, state+" cannot be made: "+up+": "+err.Error(), "let this user write there, or name another place with --state-dir")}
		}
		return []Finding{New("state", OK, state+" is made by the first start", "")}
	case err != nil:
		return []Finding{New("state", Fail, ErrText(err), "")}
	case !info.IsDir():
		return []Finding{New("state", Fail, state+" is not a folder", "mv "+ShellWord(state)+" "+ShellWord(state+".old"))}
	}
	out := checkWritable(state)
	if info.Mode().Perm()&0o077 != 0 {
		out = append(out, New("state", Warn, state+" can be read by others", "chmod 700 "+state))
	}
	return out
}

// checkWritable creates a file, and checks that files of an earlier start are writable, which they are not if another
// user created them.
func checkWritable(state string) []Finding {
	probe, err := os.CreateTemp(state, ".doctor-*")
	if err != nil {
		return []Finding{New("state", Fail, "the state folder "+state+" cannot be written: "+ErrText(err), Writable(state, err))}
	}
	_, err = probe.WriteString("x")
	if err = errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name())); err != nil {
		return []Finding{New("state", Fail, "the state folder "+state+" cannot be written: "+ErrText(err), Writable(state, err))}
	}
	if path := unwritable(state); path != "" {
		return []Finding{New("state", Fail, path+" cannot be written by this user", mayWrite(state))}
	}
	return []Finding{New("state", OK, state+" can be written", "")}
}

// existing is a path, or the nearest parent folder that exists.
func existing(path string) string {
	for {
		_, err := os.Stat(path)
		up := filepath.Dir(path)
		if err == nil || up == path {
			return path
		}
		path = up
	}
}

// Disk checks the disk of the state folder.
func Disk(state string) Finding {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(existing(state), &disk); err != nil {
		return New("disk", Warn, "the free space is unknown: "+ErrText(err), "")
	}
	free := int64(disk.Bavail) * int64(disk.Bsize) //nolint:unconvert // the types differ between systems
	if free < minFree {
		return New("disk", Warn, SizeText(free)+" left: chats stop being taken in when it is full", "make room")
	}
	return New("disk", OK, SizeText(free)+" free", "")
}

// SizeText is a number of bytes for people.
func SizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
}

// unwritable is the first of the host's own files or folders in the state folder that this user cannot write, or "".
// It checks three levels, which include the folders of chats. Files that people placed there may be read-only.
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

// ours reports whether the host can write a folder, or a file that it appends to. A read-only file of the same user
// is fine, since it can be replaced.
func ours(path string, e fs.DirEntry) bool {
	if !e.IsDir() && !e.Type().IsRegular() || unix.Access(path, unix.W_OK) == nil {
		return true
	}
	info, err := e.Info()
	if err != nil {
		return true // removed meanwhile
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !e.IsDir() && (!ok || int(stat.Uid) == os.Getuid())
}

// mayWrite is the fix for a state folder that cannot be written.
func mayWrite(state string) string {
	return fmt.Sprintf("sudo chown -R %d %s, or run as the user who owns it", os.Getuid(), ShellWord(state))
}

// Writable is the fix for a state folder that cannot be written because of err.
func Writable(state string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return "make room"
	case errors.Is(err, syscall.EIO):
		return "dmesg says more; restore a backup to another disk"
	case errors.Is(err, syscall.EROFS):
		return "mount its disk for writing, or name another place with --state-dir"
	}
	return mayWrite(state)
}

// DiskFault says what is wrong with a disk if that is why an error came, or nothing.
func DiskFault(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "is full"
	case errors.Is(err, syscall.EROFS):
		return "cannot be written"
	case errors.Is(err, syscall.EIO):
		return "is damaged"
	}
	return ""
}

// MayWrite fails for a folder of the state in which this user can make nothing, which a host would notice only with the
// first message. Unlike [State] it takes the same time however many chats there are.
func MayWrite(state string) error {
	for _, name := range []string{"", "chat", "open"} {
		dir := filepath.Join(state, name)
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "write", Path: dir, Err: err}
		}
	}
	return nil
}

// ShellWord quotes a word for a shell if needed.
func ShellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-+:@%,", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
