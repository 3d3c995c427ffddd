package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrLink is wrapped by errors about folders that are symbolic links. The host never writes its files through one.
var ErrLink = errors.New("it is a symbolic link or no folder")

// MakeFolder makes a folder below root and its missing parents, accessible to the owner only. Neither root nor any
// folder below it may be a symbolic link; the parents of root may.
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
