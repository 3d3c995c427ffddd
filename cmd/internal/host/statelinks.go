package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// refuseLinks refuses a state folder in which a folder is a symbolic link: what belongs
// to the agent would be read from elsewhere, and written there. It looks two folders
// deep. Those of chats, of which there may be many, are looked at when a chat is opened,
// and those of their files when one is stored.
func refuseLinks(state string) error { return linksBelow(state, 2) }

func linksBelow(dir string, levels int) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, which no part of the state folder may be; move what it leads to in its place", at)
		}
		if e.IsDir() && levels > 1 && !slices.Contains([]string{"chat", "open", "logs"}, e.Name()) {
			if err := linksBelow(at, levels-1); err != nil {
				return err
			}
		}
	}
	return nil
}
