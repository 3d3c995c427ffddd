package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/shipmyagent/shipmyagent/messages"
)

// ChatFiles are the files of chats. Each chat has its own folder below Root and can access only that. Models name
// files by their slash-separated path below Root.
type ChatFiles struct {
	Root   string
	Folder func(key messages.ChatKey) (string, error)
}

// errOther is the error of a path that is not in the folder of the chat.
var errOther = fmt.Errorf("it is not a file of this chat: %w", fs.ErrNotExist)

// enter opens the folder of a chat, and returns the path in it of the file that models call name.
func (f ChatFiles) enter(key messages.ChatKey, name string) (root *os.Root, rest string, err error) {
	own, err := f.Folder(key)
	if err != nil {
		return nil, "", fmt.Errorf("name the folder of a chat: %w", err)
	}
	rest, ok := strings.CutPrefix(filepath.ToSlash(name), own+"/")
	if !ok || !filepath.IsLocal(rest) {
		return nil, "", errOther
	}
	root, err = os.OpenRoot(filepath.Join(f.Root, filepath.FromSlash(own)))
	return root, rest, err
}

// Find returns the full path of a regular file of a chat. Links that lead out of its folder, hidden files and
// anything else are refused with [ErrInput].
func (f ChatFiles) Find(key messages.ChatKey, name string) (string, error) {
	refused := fmt.Errorf("%w: only files of this chat below the files folder can be used, not %q", ErrInput, Shorten(name, 200))
	root, rest, err := f.enter(key, name)
	if err != nil {
		return "", refused
	}
	defer func() { _ = root.Close() }() // opened for reading only
	if strings.HasPrefix(rest, ".") || strings.Contains(rest, "/.") {
		return "", refused
	}
	info, err := root.Stat(rest)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: there is no file %q", ErrInput, Shorten(name, 200))
	case !info.Mode().IsRegular():
		return "", refused
	}
	return filepath.Join(root.Name(), filepath.FromSlash(rest)), nil
}

// Open opens a regular file of a chat for reading. It refuses links, although only the host writes to the folder: they
// are missing to it, like the files of another chat.
func (f ChatFiles) Open(key messages.ChatKey, name string) (*os.File, fs.FileInfo, error) {
	root, rest, err := f.enter(key, name)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading only
	info, err := root.Lstat(rest)
	if err == nil && !info.Mode().IsRegular() {
		err = errOther
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := root.OpenFile(rest, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe, which would block
	if err != nil {
		return nil, nil, err
	}
	if now, err := file.Stat(); err != nil || !os.SameFile(info, now) {
		return nil, nil, errors.Join(errOther, err, file.Close())
	}
	return file, info, nil
}

// Place returns the folder of a chat's files, creating it if needed, and its path as models name it.
func (f ChatFiles) Place(key messages.ChatKey) (folder, name string, err error) {
	if name, err = f.Folder(key); err != nil {
		return "", "", fmt.Errorf("name the folder of a chat: %w", err)
	}
	if err := MakeFolder(f.Root, filepath.FromSlash(name)); err != nil {
		return "", "", fmt.Errorf("make the folder of files: %w", err)
	}
	return filepath.Join(f.Root, filepath.FromSlash(name)), name, nil
}

// Receive stores a file of a chat and returns its path as models name it. The file appears when its content is durable,
// but a power cut soon afterwards may remove it again. write fills a temporary file and returns the name of the file,
// which must come from the host, never from a model.
func (f ChatFiles) Receive(key messages.ChatKey, write func(temp *os.File) (name string, err error)) (string, error) {
	folder, own, err := f.Place(key)
	if err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(folder, ".part-*") // 0600
	if err != nil {
		return "", fmt.Errorf("make a file: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // renamed already on success
	name, err := write(temp)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(temp.Name(), filepath.Join(folder, name)); err != nil {
		return "", fmt.Errorf("keep a file: %w", err)
	}
	return path.Join(own, name), nil
}

// Store is [ChatFiles.Receive] for a file whose content is known.
func (f ChatFiles) Store(key messages.ChatKey, name string, data []byte) (string, error) {
	return f.Receive(key, func(temp *os.File) (string, error) {
		_, err := temp.Write(data)
		return name, err
	})
}
