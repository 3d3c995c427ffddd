package skill

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
)

const (
	fileName = "SKILL.md"
	// maxFiles, maxBytes and maxDepth bound a skill's folder.
	maxFiles = 1000
	maxBytes = 16 << 20
	maxDepth = 12
)

// folder is the content of a skill's folder, read at one time.
type folder struct {
	digest string // of every file: path, kind, executable bit and content
	text   []byte // SKILL.md as included in the digest; nil if there is none
	files  int
	bytes  int64
}

// walker walks a folder. With a nil digest it does not read the files.
type walker struct {
	root    *os.Root
	digest  hash.Hash
	stamp   hash.Hash
	out     folder
	entries int
}

// readFolder reads a folder and computes its digest. Links cannot lead out of it, because all names are resolved
// below root.
func readFolder(root *os.Root) (folder, error) {
	w := walker{root: root, digest: sha256.New(), stamp: sha256.New()}
	if err := w.walk(".", 0); err != nil {
		return folder{}, err
	}
	w.out.digest = "sha256:" + hex.EncodeToString(w.digest.Sum(nil))
	return w.out, nil
}

// stampFolder changes whenever something in a folder does, as far as the metadata of the files shows.
func stampFolder(root *os.Root) string {
	w := walker{root: root, stamp: sha256.New()}
	err := w.walk(".", 0)
	return fmt.Sprintf("%x %v", w.stamp.Sum(nil), err)
}

func (w *walker) walk(dir string, depth int) error {
	if depth > maxDepth {
		return frontmatter.Faultf(0, "make it flatter", "the folder is more than %d levels deep", maxDepth)
	}
	entries, err := w.list(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if w.entries++; w.entries > maxFiles {
			return frontmatter.Faultf(0, "move what the skill does not need elsewhere", "the folder holds more than %d files", maxFiles)
		}
		if err := w.entry(path.Join(dir, e.Name()), depth); err != nil {
			return err
		}
	}
	return nil
}

// list lists a folder by name.
func (w *walker) list(dir string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(dir + "/.")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	entries, err := f.ReadDir(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (w *walker) entry(name string, depth int) error {
	info, err := w.root.Lstat(name)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w.stamp, "%q %v %d %d %d\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano(), inode(info)) // never fails
	switch mode := info.Mode(); {
	case mode.IsDir():
		w.add("dir %q\n", name)
		return w.walk(name, depth+1)
	case mode.IsRegular():
		return w.file(name)
	case mode&fs.ModeSymlink != 0:
		return w.link(name)
	default:
		return frontmatter.Faultf(0, "remove it", "%q is neither a file nor a folder", name)
	}
}

// inode distinguishes a file from one that replaced it.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

func (w *walker) add(format string, args ...any) {
	if w.digest != nil {
		_, _ = fmt.Fprintf(w.digest, format, args...) // never fails
	}
}

// link adds a link that stays in the folder; the digest includes its target.
func (w *walker) link(name string) error {
	to, err := w.root.Readlink(name)
	if err != nil {
		return err
	}
	if _, err := w.root.Stat(name); err != nil {
		return frontmatter.Faultf(0, "copy the file into the folder", "the link %q leads out of the folder or nowhere", name)
	}
	w.add("link %q %q\n", name, to)
	return nil
}

// file reads a file. If it was replaced by something else meanwhile, it fails without blocking.
func (w *walker) file(name string) error {
	if w.digest == nil {
		return nil
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return frontmatter.Faultf(0, "remove it", "%q is not a file", name)
	}
	limit, most := int64(maxBytes)-w.out.bytes, "the folder holds more than %d bytes"
	size := maxBytes
	if name == fileName {
		limit, most, size = min(limit, maxText), "SKILL.md has more than %d bytes", maxText
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return err
	}
	if int64(len(data)) > limit {
		return frontmatter.Faultf(0, "make it shorter", most, size)
	}
	w.out.files++
	w.out.bytes += int64(len(data))
	w.add("file %q run %t %d %x\n", name, info.Mode()&0o111 != 0, len(data), sha256.Sum256(data))
	if name == fileName {
		w.out.text = data
	}
	return nil
}
