package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

const (
	listName    = "backup.jsonl"
	version     = 1
	stateName   = "state"   // the folder of a backup with the state
	projectName = "project" // the folder with the project's files
)

// ErrNoBackup means that a folder is not a complete backup.
var ErrNoBackup = errors.New("this is not a complete backup")

// head is the first line of the list.
type head struct {
	Version int       `json:"v"`
	At      time.Time `json:"at"`
	By      string    `json:"by"` // the version of the program
}

// File is one file of a backup.
type File struct {
	Path   string      `json:"path"` // below the backup, with slashes
	Mode   fs.FileMode `json:"mode,omitempty"`
	Bytes  int64       `json:"bytes,omitempty"`
	SHA256 string      `json:"sha256,omitempty"`
	Link   string      `json:"link,omitempty"` // the target of a symbolic link
}

// end is the last line of the list.
type end struct {
	Files int `json:"files"` // how many lines are before it, without the head
}

// writeList writes the list of a backup, durably.
func writeList(dir string, h head, files []File) (err error) {
	f, err := os.OpenFile(filepath.Join(dir, listName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	err = enc.Encode(h)
	for _, file := range files {
		err = errors.Join(err, enc.Encode(file))
	}
	return errors.Join(err, enc.Encode(end{len(files)}), w.Flush(), f.Sync())
}

func readList(dir string) (h head, files []File, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, listName))
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil, fmt.Errorf("%w: it has no %s", ErrNoBackup, listName)
	}
	if err != nil {
		return h, nil, err
	}
	return parse(raw)
}

// parse reads a list. It refuses paths that lead out of the backup or out of its two folders.
func parse(raw []byte) (h head, files []File, err error) {
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[0]), &h); err != nil || h.Version == 0 {
		return h, nil, fmt.Errorf("%w: the first line of its list has no version", ErrNoBackup)
	}
	if h.Version != version {
		return h, nil, fmt.Errorf("%w: its list has version %d, and this program reads version %d", ErrNoBackup, h.Version, version)
	}
	var last end
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Files != len(lines)-2 || len(lines) < 2 {
		return h, nil, fmt.Errorf("%w: the end of its list is missing", ErrNoBackup)
	}
	for n, line := range lines[1 : len(lines)-1] {
		var f File
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return h, nil, fmt.Errorf("%w: line %d of its list cannot be read", ErrNoBackup, n+2)
		}
		top, rest, _ := strings.Cut(f.Path, "/")
		if top != stateName && top != projectName || rest == "" || f.Path != path.Clean(f.Path) || !filepath.IsLocal(f.Path) {
			return h, nil, fmt.Errorf("%w: line %d of its list names %q", ErrNoBackup, n+2, f.Path)
		}
		files = append(files, f)
	}
	return h, files, nil
}

// read passes the bytes of a file of a backup to w and fails if they are not those of the list.
func (f File) read(root *os.Root, w io.Writer) error {
	in, err := root.Open(filepath.FromSlash(f.Path))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	defer func() { _ = in.Close() }() // only read
	sum, n, err := copyBytes(w, in, f.Bytes+1)
	if err == nil && (n != f.Bytes || sum != f.SHA256) {
		err = fmt.Errorf("%w: %s is not as it was when the backup was made", ErrNoBackup, f.Path)
	}
	return err
}
