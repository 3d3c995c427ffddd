package chatfiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Uploads stores what people upload in the web page and the terminal. The name of a file is the digest of its
// content.
type Uploads struct {
	Store Store
	Bytes func() int64 // the longest file that is stored
	Shelf *picture.Shelf
}

var _ web.Files = (*Uploads)(nil)

// Limit implements [web.Files].
func (u *Uploads) Limit() int64 { return u.Bytes() }

// Keep implements [web.Files].
func (u *Uploads) Keep(ctx context.Context, key messages.ChatKey, name string, src io.Reader) (string, error) {
	pointer, err := u.Store.Receive(key, func(temp *os.File) (string, error) {
		sum, most := sha256.New(), u.Bytes()
		n, err := io.Copy(io.MultiWriter(temp, sum), io.LimitReader(src, most+1))
		if err == nil && n > most {
			err = platform.ErrTooLarge
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return "", fmt.Errorf("keep an upload: %w", err)
		}
		return "upload-" + hex.EncodeToString(sum.Sum(nil)[:16]) + extension(platform.FileDocument, name), nil
	})
	if err != nil {
		return "", err
	}
	return path.Base(pointer), nil
}

// storedUpload matches the names of uploads. fetchable matches the files that people may fetch: their uploads, what
// was made from them, and what the agent sent, which is in a folder of its own under its own name.
var (
	storedUpload = regexp.MustCompile(`^upload-[0-9a-f]{32}\.[a-z0-9]{1,8}$`)
	fetchable    = regexp.MustCompile(`^((upload|picture|document)-[0-9a-f]{32}\.[a-z0-9]{1,8}|sent-[0-9a-f]{32}/[^/]+)$`)
)

// Describe implements [web.Files].
func (u *Uploads) Describe(ctx context.Context, key messages.ChatKey, stored, name string) ([]byte, error) {
	if !storedUpload.MatchString(stored) {
		return nil, fs.ErrNotExist
	}
	f, err := u.Store.open(key, stored)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at an upload: %w", err)
	}
	folder, err := FolderOf(key)
	if err != nil {
		return nil, fmt.Errorf("name the folder of a chat: %w", err)
	}
	p, err := u.Shelf.Keep(ctx, key, f)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	whole := path.Join(folder, stored)
	if err != nil { // it is not a picture, or one that cannot be shown
		p = messages.Picture{}
		if _, err := f.Seek(0, io.SeekStart); err == nil && isText(f) {
			p = messages.Picture{Path: whole, Mime: messages.MimeText}
		}
	}
	p.Of, p.Name, p.Bytes = whole, name, info.Size()
	return messages.WithPictures(nil, []messages.Picture{p}), nil
}

// maxInline is the longest text file, in bytes, that is included in a request as a whole.
const maxInline = 32 << 10

// isText reports whether a file is a short text.
func isText(f io.Reader) bool {
	data, err := io.ReadAll(io.LimitReader(f, maxInline+1))
	return err == nil && len(data) <= maxInline && utf8.Valid(data) && !bytes.ContainsRune(data, 0)
}

// Open implements [web.Files].
func (u *Uploads) Open(key messages.ChatKey, stored string) (*os.File, error) {
	if !fetchable.MatchString(stored) {
		return nil, fs.ErrNotExist
	}
	return u.Store.open(key, stored)
}
