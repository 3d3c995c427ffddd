package picture

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
	"path/filepath"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// MimeJPEG is the media type of pictures.
const MimeJPEG = "image/jpeg"

// Shelf keeps the pictures of chats below the host's folder of files, named by the digest
// of their bytes, each in the folder of its chat. It is safe for concurrent use.
type Shelf struct {
	maker *Maker
	files tool.ChatFiles
}

// NewShelf returns a shelf in the files of chats.
func NewShelf(files tool.ChatFiles) *Shelf { return &Shelf{maker: NewMaker(), files: files} }

// Keep makes a picture of an image, or takes a PDF document as it is, and stores it for
// a chat. [ErrNone] is wrapped by errors of other files.
func (s *Shelf) Keep(ctx context.Context, key messages.ChatKey, src io.Reader) (messages.Picture, error) {
	const sniffed = 512
	head := make([]byte, sniffed)
	n, err := io.ReadFull(src, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return messages.Picture{}, fmt.Errorf("read a file: %w", err)
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), src)
	switch {
	case IsPDF(head):
		data, err := io.ReadAll(io.LimitReader(whole, MaxPDF+1))
		if err != nil {
			return messages.Picture{}, fmt.Errorf("read a document: %w", err)
		}
		if len(data) > MaxPDF {
			return messages.Picture{}, ErrTooLarge
		}
		return s.store(key, messages.Picture{Mime: messages.MimePDF}, data, "document-", ".pdf")
	case Is(head):
		made, err := s.maker.Make(ctx, whole)
		if err != nil {
			return messages.Picture{}, err
		}
		return s.store(key, messages.Picture{Mime: MimeJPEG, Width: made.Width, Height: made.Height}, made.JPEG, "picture-", ".jpg")
	}
	return messages.Picture{}, ErrNone
}

func (s *Shelf) store(key messages.ChatKey, p messages.Picture, data []byte, begin, end string) (messages.Picture, error) {
	folder, err := s.files.Folder(key)
	if err != nil {
		return messages.Picture{}, fmt.Errorf("name the folder of a chat: %w", err)
	}
	sum := sha256.Sum256(data)
	name := begin + hex.EncodeToString(sum[:16]) + end
	p.Path, p.Bytes = path.Join(folder, name), int64(len(data))
	if info, err := os.Lstat(filepath.Join(s.files.Root, filepath.FromSlash(p.Path))); err == nil && info.Mode().IsRegular() && info.Size() == p.Bytes {
		return p, nil // the same picture once more
	}
	if _, err := s.files.Store(key, name, data); err != nil {
		return messages.Picture{}, fmt.Errorf("keep a picture: %w", err)
	}
	return p, nil
}

// Load reads what a link of [messages.Picture.Link] names. A link reaches only the folder
// of the chat that it names, and only what [Shelf.Keep] stored there, or an upload whose
// name holds the digest of its bytes.
func (s *Shelf) Load(_ context.Context, link string) ([]byte, error) {
	key, name, ok := messages.PictureOf(link)
	folder, err := s.files.Folder(key)
	own, inside := strings.CutPrefix(name, folder+"/")
	if !ok || err != nil || !inside || !ours(own) {
		return nil, ErrNone
	}
	f, info, err := s.files.Open(key, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNone
	case err != nil:
		return nil, fmt.Errorf("open a picture: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	if info.Size() > MaxSource {
		return nil, ErrNone
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSource))
	if err != nil {
		return nil, fmt.Errorf("read a picture: %w", err)
	}
	if sum := sha256.Sum256(data); !strings.Contains(own, hex.EncodeToString(sum[:16])) {
		return nil, ErrNone // somebody changed it
	}
	return data, nil
}

// ours reports whether a name is one that the shelf gives.
func ours(name string) bool {
	return !strings.ContainsAny(name, `/\`) &&
		(strings.HasPrefix(name, "picture-") && strings.HasSuffix(name, ".jpg") || strings.HasPrefix(name, "upload-") || strings.HasPrefix(name, "document-") && strings.HasSuffix(name, ".pdf"))
}
