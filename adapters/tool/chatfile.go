package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
)

// ChatFiles are the files of chats. Each chat has its own folder below Root and can access only that. Models name
// files by their slash-separated path below Root.
type ChatFiles struct {
	Root   string
	Folder func(key messages.ChatKey) (string, error)
}

// Find returns the full path of a regular file of a chat. Links that lead out of its folder, hidden files and
// anything else are refused with [ErrInput].
func (f ChatFiles) Find(key messages.ChatKey, name string) (string, error) {
	refused := fmt.Errorf("%w: only files of this chat below the files folder can be used, not %q", ErrInput, Shorten(name, 200))
	own, err := f.Folder(key)
	if err != nil {
		return "", refused
	}
	rest, ok := strings.CutPrefix(filepath.ToSlash(name), own+"/")
	if !ok || !filepath.IsLocal(rest) {
		return "", refused
	}
	for part := range strings.SplitSeq(rest, "/") {
		if strings.HasPrefix(part, ".") {
			return "", refused
		}
	}
	folder := filepath.Join(f.Root, filepath.FromSlash(own))
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", refused
	}
	defer func() { _ = root.Close() }() // opened for reading only
	info, err := root.Stat(rest)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: there is no file %q", ErrInput, Shorten(name, 200))
	case !info.Mode().IsRegular():
		return "", refused
	}
	return filepath.Join(folder, filepath.FromSlash(rest)), nil
}

// Place returns the folder of a chat's files, creating it if needed, and its path as models name it.
func (f ChatFiles) Place(key messages.ChatKey) (folder, name string, err error) {
	if name, err = f.Folder(key); err != nil {
		return "", "", fmt.Errorf("name the folder of a chat: %w", err)
	}
	folder = filepath.Join(f.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", fmt.Errorf("make the folder of files: %w", err)
	}
	return folder, name, nil
}
