package chatfiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
)

// maxFolder is the longest encoded key that is used as the name of a chat's folder, because models read the paths of
// results.
const maxFolder = 150

// FolderOf is the folder of a chat's files, relative to the folder of all files. It is unique to the chat, and every
// pointer to a file of the chat begins with it.
func FolderOf(key messages.ChatKey) (string, error) {
	name, err := chatpath.Encode(key)
	if err != nil {
		return "", err
	}
	if len(name) > maxFolder {
		sum := sha256.Sum256([]byte(key))
		name = "~" + hex.EncodeToString(sum[:]) // encoded keys do not begin with ~
	}
	return path.Join("results", name), nil
}

// Store is the folder of all files of a state folder. It is safe for concurrent use.
type Store struct{ tool.ChatFiles }

// In returns the store of a state folder.
func In(state string) Store { return At(filepath.Join(state, "files")) }

// At returns the store whose folder of all files is root.
func At(root string) Store { return Store{tool.ChatFiles{Root: root, Folder: FolderOf}} }

// Create creates the file of a full tool result and returns the pointer to it. name must come from the host, never
// from a model.
func (s Store) Create(key messages.ChatKey, name string) (w io.WriteCloser, pointer string, err error) {
	dir, folder, err := s.Place(key)
	if err != nil {
		return nil, "", err
	}
	name = resultName(name)
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, "", fmt.Errorf("store a result: %w", err)
	}
	return f, path.Join(folder, name), nil
}

// Keep returns a function that stores full results of a chat.
func (s Store) Keep(key messages.ChatKey) tool.Keep {
	return func(_ context.Context, name string, data []byte) (string, error) {
		f, pointer, err := s.Create(key, name)
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("store a result: %w", err)
		}
		return pointer, nil
	}
}

func resultName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 150)] + ".txt"
}

// Whole reads a full result of a chat by its pointer. A chat can read only its own results. If a result is longer
// than limit, only its size is returned.
func (s Store) Whole(key messages.ChatKey, pointer string, limit int64) (text string, size int64, err error) {
	f, info, err := s.Open(key, pointer)
	if err != nil {
		return "", 0, fmt.Errorf("open a result: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if info.Size() > limit {
		return "", info.Size(), nil
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", 0, fmt.Errorf("read a result: %w", err)
	}
	return string(raw), int64(len(raw)), nil
}

// open opens a file of a chat by its name in the chat's folder. It fails with [fs.ErrNotExist] if the chat has no
// such file.
func (s Store) open(key messages.ChatKey, name string) (*os.File, error) {
	folder, err := FolderOf(key)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	f, _, err := s.Open(key, path.Join(folder, name))
	return f, err
}

// OpenVoice opens a synthesized voice message of a chat. It does not open other files of the chat.
func (s Store) OpenVoice(key messages.ChatKey, name string) (*os.File, error) {
	if !regexp.MustCompile(`^speech-[0-9a-f]{24}\.(opus|mp3|wav)$`).MatchString(name) {
		return nil, fs.ErrNotExist
	}
	return s.open(key, name)
}

// SentLink is the link to a file that the agent sent, by its pointer: on the web page of the chat, or as a file URL
// for a terminal on this machine. It is empty for platforms that deliver the file themselves.
func (s Store) SentLink(key messages.ChatKey, pointer string) string {
	return s.link(key, "/files/", pointer)
}

// VoiceLink is like SentLink for a voice message, by its name in the chat's folder.
func (s Store) VoiceLink(key messages.ChatKey, name string) string {
	folder, err := FolderOf(key)
	if err != nil {
		return ""
	}
	return s.link(key, "/voice/", folder+"/"+name)
}

func (s Store) link(key messages.ChatKey, kind, pointer string) string {
	own, err := FolderOf(key)
	address, _ := key.Address()
	switch {
	case err != nil:
	case strings.HasPrefix(string(key), "web-chat-"):
		folder, file := path.Split(strings.TrimPrefix(pointer, own+"/"))
		return "/api/chat/" + url.PathEscape(strings.TrimPrefix(string(key), "web-chat-")) + kind + folder + url.PathEscape(file)
	case address.Platform == "cli" && address.Account == "":
		return (&url.URL{Scheme: "file", Path: filepath.Join(s.Root, filepath.FromSlash(pointer))}).String()
	}
	return ""
}

// extension is the extension of a file's name: fixed for some kinds, otherwise that of the sender's name if it is
// plain.
func extension(kind, name string) string {
	switch kind {
	case "photo":
		return ".jpg"
	case "voice":
		return ".ogg"
	case "video note":
		return ".mp4"
	}
	end := strings.ToLower(filepath.Ext(name))
	plain := func(r rune) bool { return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') }
	if len(end) < 2 || len(end) > 9 || strings.ContainsFunc(end[1:], func(r rune) bool { return !plain(r) }) {
		return ".bin"
	}
	return end
}
