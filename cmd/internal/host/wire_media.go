package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxDownloads is how many files are fetched at once, over all chats.
const maxDownloads = 16

// Why a file is not there, in words for the model and through it for people.
const (
	fileTooLarge = "it is too large"
	fileRefused  = "the platform does not hand it out"
	fileFailed   = "it could not be fetched"
	filesOff     = "files are not taken here"
)

// media keeps the files that people send below the folder of files, each with the
// results of its chat and under a name of the host's own.
type media struct {
	folder string // of all files
	limit  int64  // bytes of one file
	slots  chan struct{}
	from   func(platform string) platform.Platform
	failed func(ctx context.Context, key messages.ChatKey, kind string, err error)
	shelf  *picture.Shelf   // nil: models are shown nothing
	ears   *speech.Listener // nil: nobody listens to recordings
	deaf   func(ctx context.Context, key messages.ChatKey, kind string, err error)
}

// newMedia makes what fetches files; it finds platforms once they are connected.
func (h *Host) newMedia(folder string, ears *speech.Listener) *media {
	return &media{
		shelf: h.shelf, ears: ears, folder: folder, limit: int64(h.opts.Settings.Settings.Limits.FileMB) << 20, slots: make(chan struct{}, maxDownloads),
		from: func(name string) platform.Platform {
			if p := h.ports[name]; p != nil { // filled before the first message, never changed after it
				return p.platform
			}
			return nil
		},
		failed: func(ctx context.Context, key messages.ChatKey, kind string, err error) {
			if errors.Is(ctx.Err(), context.Canceled) {
				return // the turn changed meanwhile, and is fetched anew
			}
			h.log.Warn("a file of a chat could not be fetched", "chat_key", string(key), "kind", kind, "error", err)
		},
		deaf: func(ctx context.Context, key messages.ChatKey, kind string, err error) {
			if errors.Is(ctx.Err(), context.Canceled) {
				return
			}
			h.log.Warn("a recording could not be turned into text", "chat_key", string(key), "kind", kind, "error", err)
		},
	}
}

// fetch is a chat.Fetch.
func (m *media) fetch(ctx context.Context, key messages.ChatKey, turn uimessage.Message) []uimessage.Part {
	meta := journal.NewTurn(turn).Meta
	var out []uimessage.Part
	for i, part := range turn.Parts {
		f, ok := platform.FileOf(part)
		if !ok || !f.Unfetched() {
			out = append(out, part)
			continue
		}
		words := ""
		f, words = m.take(ctx, key, meta.MessageID+"-"+strconv.Itoa(i), f)
		out = append(out, uimessage.Text{Text: words})
		if words = m.show(ctx, key, &f); words != "" {
			out = append(out, uimessage.Text{Text: words})
		}
		if words = m.listen(ctx, key, &f); words != "" {
			out = append(out, uimessage.Text{Text: words})
		}
		out = append(out, f.Part())
	}
	return out
}

// show makes of an image or a document what models are shown of it. It says why there is
// nothing of what people see as a picture; empty: there is, or it is none.
func (m *media) show(ctx context.Context, key messages.ChatKey, f *platform.File) string {
	if m.shelf == nil || f.Path == "" || f.Kind == "voice" || f.Kind == "audio" {
		return ""
	}
	file, err := os.Open(filepath.Join(m.folder, filepath.FromSlash(f.Path)))
	if err != nil {
		m.failed(ctx, key, f.Kind, fmt.Errorf("open a picture: %w", err))
		return ""
	}
	defer func() { _ = file.Close() }() // only read from
	p, err := m.shelf.Keep(ctx, key, file)
	if err == nil {
		p.Name, p.Of = f.Name, f.Path
		f.Picture = &p
		return ""
	}
	known := errors.Is(err, picture.ErrNone) || errors.Is(err, picture.ErrTooLarge)
	if !known {
		m.failed(ctx, key, f.Kind, err)
	}
	switch {
	case errors.Is(err, picture.ErrTooLarge):
		return "[the " + f.Kind + " is not shown: it is too large for that]"
	case looksLikeImage(*f):
		return "[the " + f.Kind + " is not shown: it cannot be read as an image]"
	}
	return ""
}

// looksLikeImage: people see a picture, or are told that the file is one.
func looksLikeImage(f platform.File) bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".heic", ".heif", ".avif", ".bmp", ".tif", ".tiff", ".svg":
		return true
	}
	return f.Kind == "photo" || strings.HasPrefix(f.Mime, "image/")
}

// listen is what the model reads of a recording beside its file: what it says, as it
// was heard, or why that is not known. It is empty for other files.
func (m *media) listen(ctx context.Context, key messages.ChatKey, f *platform.File) string {
	spoken := f.Kind == "voice" || f.Kind == "video note" // by its sender; an audio may be a song
	switch {
	case !spoken && f.Kind != "audio":
		return ""
	case m.ears == nil && spoken:
		return "[nobody listens to voice messages here: what it says is not known]"
	case m.ears == nil, f.Path == "" && !spoken:
		return ""
	}
	text, err := m.hear(ctx, key, *f)
	if err == nil {
		return text
	}
	why := speech.ReasonOf(err)
	if !spoken {
		return "[what the audio says is not known (" + string(why) + ")]"
	}
	f.Unheard = string(why)
	return "[what it says is not known (" + string(why) + "); its sender was told]"
}

// hear turns a recording into text. By what its sender says of it, it may be refused
// unheard.
func (m *media) hear(ctx context.Context, key messages.ChatKey, f platform.File) (string, error) {
	if f.Path == "" {
		if f.Failed == fileTooLarge {
			return "", &speech.Error{Reason: speech.ReasonLong}
		}
		return "", &speech.Error{Reason: speech.ReasonNetwork}
	}
	err := m.ears.Takes(path.Ext(f.Path), f.Size, time.Duration(min(f.Seconds, 1<<20))*time.Second)
	text := ""
	if err == nil {
		text, err = m.ears.Hear(ctx, string(key), speech.Audio{Path: filepath.Join(m.folder, filepath.FromSlash(f.Path))})
	}
	if err != nil {
		m.deaf(ctx, key, f.Kind, err)
	}
	return text, err
}

// take fetches one file and says what the model reads of it.
func (m *media) take(ctx context.Context, key messages.ChatKey, seed string, f platform.File) (platform.File, string) {
	err := m.keep(ctx, key, seed, &f)
	if err == nil {
		return f, "[the " + f.Kind + " is kept as " + f.Path + ", " + strconv.FormatInt(f.Size, 10) + " bytes]"
	}
	switch {
	case m.limit == 0:
		f.Failed = filesOff
	case errors.Is(err, platform.ErrTooLarge):
		f.Failed = fileTooLarge
	case errors.Is(err, platform.ErrNoFile):
		f.Failed = fileRefused
	default:
		f.Failed = fileFailed
		m.failed(ctx, key, f.Kind, err)
	}
	return f, "[the " + f.Kind + " is not there: " + f.Failed + "]"
}

// keep downloads a file as a whole or not at all.
func (m *media) keep(ctx context.Context, key messages.ChatKey, seed string, f *platform.File) error {
	if m.limit == 0 {
		return platform.ErrTooLarge
	}
	from, ok := m.from(platformOf(key)).(platform.Downloader)
	if !ok {
		return platform.ErrNoFile
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	folder, err := resultsOf(key)
	if err != nil {
		return fmt.Errorf("name the folder of a chat: %w", err)
	}
	dir := filepath.Join(m.folder, filepath.FromSlash(folder))
	if err := tool.MakeFolder(m.folder, filepath.FromSlash(folder)); err != nil {
		return fmt.Errorf("make the folder of files: %w", err)
	}
	temp, err := os.CreateTemp(dir, ".part-*") // 0600
	if err != nil {
		return fmt.Errorf("make a file: %w", err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already if all went well
	err = from.Download(ctx, *f, temp, m.limit)
	info, statErr := temp.Stat()
	if err = errors.Join(err, statErr, temp.Close()); err != nil {
		return err
	}
	own := ownName(seed, *f)
	if err := os.Rename(temp.Name(), filepath.Join(dir, own)); err != nil {
		return fmt.Errorf("keep a file: %w", err)
	}
	f.Path, f.Size = path.Join(folder, own), info.Size()
	return nil
}

// ownName names a file: nothing of it but a short plain ending is its sender's word.
func ownName(seed string, f platform.File) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + f.Unique + "\x00" + f.FileID))
	return "file-" + hex.EncodeToString(sum[:8]) + ending(f)
}

// ending is the ending of a file's name: of its kind, or as its sender calls it.
func ending(f platform.File) string {
	switch f.Kind {
	case "photo":
		return ".jpg"
	case "voice":
		return ".ogg"
	case "video note":
		return ".mp4"
	}
	end := strings.ToLower(filepath.Ext(f.Name))
	plain := func(r rune) bool { return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') }
	if len(end) < 2 || len(end) > 9 || strings.ContainsFunc(end[1:], func(r rune) bool { return !plain(r) }) {
		return ".bin"
	}
	return end
}
