package host

import (
	"bytes"
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
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// uploads keeps what people upload on the page and in the terminal, in the folder of the
// chat and named by the digest of the bytes.
type uploads struct {
	files tool.ChatFiles
	limit int64
	shelf *picture.Shelf
}

var _ web.Files = (*uploads)(nil)

func (h *Host) uploads() *uploads {
	return &uploads{
		files: tool.ChatFiles{Root: filepath.Join(h.opts.State, "files"), Folder: resultsOf},
		limit: int64(h.opts.Settings.Settings.Limits.FileMB) << 20, shelf: h.shelf,
	}
}

// Limit implements [web.Files].
func (u *uploads) Limit() int64 { return u.limit }

// Keep implements [web.Files].
func (u *uploads) Keep(ctx context.Context, key messages.ChatKey, name string, src io.Reader) (string, error) {
	folder, err := resultsOf(key)
	if err != nil {
		return "", fmt.Errorf("name the folder of a chat: %w", err)
	}
	if err := tool.MakeFolder(u.files.Root, filepath.FromSlash(folder)); err != nil {
		return "", fmt.Errorf("make the folder of files: %w", err)
	}
	dir := filepath.Join(u.files.Root, filepath.FromSlash(folder))
	temp, err := os.CreateTemp(dir, ".part-*") // 0600
	if err != nil {
		return "", fmt.Errorf("make a file: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already if all went well
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(temp, sum), io.LimitReader(src, u.limit+1))
	if err == nil && n > u.limit {
		err = platform.ErrTooLarge
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close(), context.Cause(ctx)); err != nil {
		return "", fmt.Errorf("keep an upload: %w", err)
	}
	stored := "upload-" + hex.EncodeToString(sum.Sum(nil)[:16]) + ending(platform.File{Kind: platform.FileDocument, Name: name})
	if err := os.Rename(temp.Name(), filepath.Join(dir, stored)); err != nil {
		return "", fmt.Errorf("keep an upload: %w", err)
	}
	return stored, nil
}

// storedUpload are the names of uploads; fetchable are those of what people may fetch:
// their uploads, what was made of them, and what the agent sent, which has its own name in
// a folder of its own.
var (
	storedUpload = regexp.MustCompile(`^upload-[0-9a-f]{32}\.[a-z0-9]{1,8}$`)
	fetchable    = regexp.MustCompile(`^((upload|picture|document)-[0-9a-f]{32}\.[a-z0-9]{1,8}|sent-[0-9a-f]{32}/[^/]+)$`)
)

// sentLink is where people of a chat find a file that the agent sent, by its path below
// the folder of files: on the page of the chat, or, at a terminal of this machine, as a
// file. It is empty where the platform sends it.
func (h *Host) sentLink(key messages.ChatKey, name string) string {
	own, err := resultsOf(key)
	if err != nil {
		return ""
	}
	if id, ok := strings.CutPrefix(string(key), nameWeb+"-chat-"); ok {
		folder, file := path.Split(strings.TrimPrefix(name, own+"/"))
		return "/api/chat/" + url.PathEscape(id) + "/files/" + folder + url.PathEscape(file)
	}
	if platformOf(key) == nameCLI {
		return (&url.URL{Scheme: "file", Path: filepath.Join(h.opts.State, "files", filepath.FromSlash(name))}).String()
	}
	return ""
}

// Describe implements [web.Files].
func (u *uploads) Describe(ctx context.Context, key messages.ChatKey, stored, name string) ([]byte, error) {
	if !storedUpload.MatchString(stored) {
		return nil, fs.ErrNotExist
	}
	f, err := u.open(key, stored)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at an upload: %w", err)
	}
	folder, err := resultsOf(key)
	if err != nil {
		return nil, fmt.Errorf("name the folder of a chat: %w", err)
	}
	p, err := u.shelf.Keep(ctx, key, f)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	whole := path.Join(folder, stored)
	if err != nil { // it is no picture, or none that can be shown
		p = messages.Picture{}
		if _, err := f.Seek(0, io.SeekStart); err == nil && isText(f) {
			p = messages.Picture{Path: whole, Mime: messages.MimeText}
		}
	}
	p.Of, p.Name, p.Bytes = whole, name, info.Size()
	return messages.WithPictures(nil, []messages.Picture{p}), nil
}

// maxInline is the longest text that a model is given without reading the file, in bytes.
const maxInline = 32 << 10

// isText reports whether a file is a short text.
func isText(f io.Reader) bool {
	data, err := io.ReadAll(io.LimitReader(f, maxInline+1))
	return err == nil && len(data) <= maxInline && utf8.Valid(data) && !bytes.ContainsRune(data, 0)
}

// Open implements [web.Files].
func (u *uploads) Open(key messages.ChatKey, stored string) (*os.File, error) {
	if !fetchable.MatchString(stored) {
		return nil, fs.ErrNotExist
	}
	return u.open(key, stored)
}

func (u *uploads) open(key messages.ChatKey, stored string) (*os.File, error) {
	folder, err := resultsOf(key)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	file, err := u.files.Find(key, path.Join(folder, stored))
	if errors.Is(err, tool.ErrInput) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return os.Open(file)
}
