package chatfiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxDownloads is how many files are fetched at once, over all chats.
const maxDownloads = 16

// Why a file is missing, in words for the model and through it for people.
const (
	fileTooLarge = "it is too large"
	fileRefused  = "the platform does not hand it out"
	fileFailed   = "it could not be fetched"
	filesOff     = "files are not taken here"
)

// Media fetches the files that people send over a platform and stores them under names that the host chooses. It
// describes each file for the model, or says why it is missing. It is safe for concurrent use.
type Media struct {
	o     MediaOptions
	slots chan struct{}
}

// MediaOptions configure [Media]. Store and Platform are required.
type MediaOptions struct {
	Store Store
	Bytes func() int64 // the longest file that is fetched; 0 if files are not accepted
	// Platform returns the platform of a chat, or nil.
	Platform func(key messages.ChatKey) platform.Platform
	Shelf    *picture.Shelf          // without one, models do not see pictures
	Listener func() *speech.Listener // without one, recordings are not transcribed
	Logger   *slog.Logger
}

// NewMedia makes a [Media].
func NewMedia(o MediaOptions) *Media { return &Media{o: o, slots: make(chan struct{}, maxDownloads)} }

// failed logs that a file could not be fetched. It logs nothing if the fetch was canceled because the turn changed,
// since the file is then fetched again.
func (m *Media) failed(ctx context.Context, key messages.ChatKey, kind string, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		m.o.Logger.Warn("a file of a chat could not be fetched", "chat_key", string(key), "kind", kind, "error", err)
	}
}

// Fetch downloads the files of a turn that are still on the platform, and replaces their parts by what is known after
// the download.
func (m *Media) Fetch(ctx context.Context, key messages.ChatKey, turn uimessage.Message) []uimessage.Part {
	meta := journal.NewTurn(turn).Meta
	var out []uimessage.Part
	for i, part := range turn.Parts {
		f, ok := platform.FileOf(part)
		if !ok || !f.Unfetched() {
			out = append(out, part)
			continue
		}
		words := m.take(ctx, key, meta.MessageID+"-"+strconv.Itoa(i), &f)
		for _, words := range []string{words, m.show(ctx, key, &f), m.listen(ctx, key, &f)} {
			if words != "" {
				out = append(out, uimessage.Text{Text: words})
			}
		}
		out = append(out, f.Part())
	}
	return out
}

// show prepares the picture of an image or a document for models. It returns the reason if a picture cannot be shown,
// otherwise "".
func (m *Media) show(ctx context.Context, key messages.ChatKey, f *platform.File) string {
	if m.o.Shelf == nil || f.Path == "" || f.Kind == "voice" || f.Kind == "audio" {
		return ""
	}
	file, err := os.Open(filepath.Join(m.o.Store.Root, filepath.FromSlash(f.Path)))
	if err != nil {
		m.failed(ctx, key, f.Kind, fmt.Errorf("open a picture: %w", err))
		return ""
	}
	defer func() { _ = file.Close() }() // opened for reading only
	p, err := m.o.Shelf.Keep(ctx, key, file)
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

// looksLikeImage reports whether a file was sent as a photo, or has the name or type of an image.
func looksLikeImage(f platform.File) bool {
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".jpg", ".jpeg", ".png", ".gif", ".webp", ".heic", ".heif", ".avif", ".bmp", ".tif", ".tiff", ".svg":
		return true
	}
	return f.Kind == "photo" || strings.HasPrefix(f.Mime, "image/")
}

// listen is what the model reads about a recording in addition to its file: the transcript, or why it has none. It is
// empty for other files.
func (m *Media) listen(ctx context.Context, key messages.ChatKey, f *platform.File) string {
	spoken := f.Kind == "voice" || f.Kind == "video note" // recorded by its sender; an audio file may be a song
	listener := m.o.Listener()
	switch {
	case !spoken && f.Kind != "audio":
		return ""
	case (listener == nil || f.Failed == filesOff) && spoken:
		return "[nobody listens to voice messages here: what it says is not known]"
	case listener == nil, f.Path == "" && !spoken:
		return ""
	}
	text, err := m.transcribe(ctx, key, listener, *f)
	if err == nil {
		return text
	}
	why := speech.ReasonOf(err)
	if !spoken {
		return "[what the audio says is not known (" + string(why) + ")]"
	}
	f.NoTranscript = string(why)
	return "[what it says is not known (" + string(why) + "); its sender was told]"
}

// transcribe transcribes a recording. It may refuse the recording because of the duration that its metadata claims.
func (m *Media) transcribe(ctx context.Context, key messages.ChatKey, listener *speech.Listener, f platform.File) (string, error) {
	if f.Path == "" {
		if f.Failed == fileTooLarge {
			return "", &speech.Error{Reason: speech.ReasonLong}
		}
		return "", &speech.Error{Reason: speech.ReasonNetwork}
	}
	err := listener.Takes(path.Ext(f.Path), f.Size, time.Duration(min(f.Seconds, 1<<20))*time.Second)
	text := ""
	if err == nil {
		text, err = listener.Hear(ctx, string(key), speech.Audio{Path: filepath.Join(m.o.Store.Root, filepath.FromSlash(f.Path))})
	}
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		m.o.Logger.Warn("a recording could not be turned into text", "chat_key", string(key), "kind", f.Kind, "error", err)
	}
	return text, err
}

// take fetches one file and returns what the model reads about it.
func (m *Media) take(ctx context.Context, key messages.ChatKey, seed string, f *platform.File) string {
	most := m.o.Bytes()
	err := m.keep(ctx, key, seed, f, most)
	if err == nil {
		return "[the " + f.Kind + " is kept as " + f.Path + ", " + strconv.FormatInt(f.Size, 10) + " bytes]"
	}
	switch {
	case most == 0:
		f.Failed = filesOff
	case errors.Is(err, platform.ErrTooLarge):
		f.Failed = fileTooLarge
	case errors.Is(err, platform.ErrNoFile):
		f.Failed = fileRefused
	default:
		f.Failed = fileFailed
		m.failed(ctx, key, f.Kind, err)
	}
	return "[the " + f.Kind + " is not there: " + f.Failed + "]"
}

// keep downloads a file of at most so many bytes, completely or not at all.
func (m *Media) keep(ctx context.Context, key messages.ChatKey, seed string, f *platform.File, most int64) error {
	if most == 0 {
		return platform.ErrTooLarge
	}
	from, ok := m.o.Platform(key).(platform.Downloader)
	if !ok {
		return platform.ErrNoFile
	}
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var size int64
	pointer, err := m.o.Store.Receive(key, func(temp *os.File) (string, error) {
		err := from.Download(ctx, *f, temp, most)
		info, statErr := temp.Stat()
		if err = errors.Join(err, statErr); err != nil {
			return "", err
		}
		size = info.Size()
		return fileName(seed, *f), nil
	})
	if err == nil {
		f.Path, f.Size = pointer, size
	}
	return err
}

// fileName names a file. Only a short plain extension comes from the sender.
func fileName(seed string, f platform.File) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + f.Unique + "\x00" + f.FileID))
	return "file-" + hex.EncodeToString(sum[:8]) + extension(f.Kind, f.Name)
}
