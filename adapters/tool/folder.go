package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrLink is wrapped by errors of folders that are symbolic links: what a host keeps is
// never written to where one leads.
var ErrLink = errors.New("it is a symbolic link or no folder")

// MakeFolder makes a folder below another one, and those in between, for the owner alone.
// Neither the root nor any of them may be a symbolic link; those above the root may.
func MakeFolder(root, below string) error {
	at := filepath.Clean(root)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	if !filepath.IsLocal(below) {
		return fmt.Errorf("%q does not lie below a folder", below)
	}
	parts := strings.Split(filepath.Clean(below), string(filepath.Separator))
	for _, part := range append([]string{"."}, parts...) {
		at = filepath.Join(at, part)
		err := os.Mkdir(at, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err == nil {
			continue
		}
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: %w", at, ErrLink)
		}
	}
	return nil
}
