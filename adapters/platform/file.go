package platform

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// FilePart is the name of the data parts that stand for files people sent.
const FilePart = "chat-file"

// File is a file that somebody sent, as the data part of a turn keeps it. It holds no
// address: those of some services carry a credential.
type File struct {
	Kind   string `json:"kind"` // photo, document, voice, audio, video, …
	FileID string `json:"fileId"`
	Unique string `json:"fileUniqueId,omitempty"`
	Name   string `json:"name,omitempty"` // as its sender calls it
	Mime   string `json:"mimeType,omitempty"`
	Size   int64  `json:"size,omitempty"` // as its sender says
	// Seconds is how long it plays, as its sender says; 0: unknown, or it does not play.
	Seconds int64 `json:"seconds,omitempty"`
	// Answered: it is not its sender's, but of the message that theirs answers.
	Answered bool `json:"answered,omitempty"`
	// Path is where the host keeps it, below its folder of files, under a name of the
	// host's own; Failed says why it does not.
	Path   string `json:"path,omitempty"`
	Failed string `json:"failed,omitempty"`
	// Unheard says why the words of a voice are not known, as one of the reasons of
	// package speech: its sender was told so. Empty: they are, or nobody asked for them.
	Unheard string `json:"unheard,omitempty"`
	// Picture is what models are shown of an image or a document; nil: nothing.
	Picture *messages.Picture `json:"picture,omitempty"`
}

// Part is the file as a part of a turn.
func (f File) Part() uimessage.Data {
	raw, err := json.Marshal(f)
	if err != nil {
		raw = json.RawMessage(`{"failed":"unreadable"}`) // Unreachable: strings and a number
	}
	return uimessage.Data{Name: FilePart, Data: raw}
}

// FileOf reads the file that a part stands for.
func FileOf(part uimessage.Part) (File, bool) {
	d, ok := part.(uimessage.Data)
	if !ok || d.Name != FilePart {
		return File{}, false
	}
	var f File
	return f, json.Unmarshal(d.Data, &f) == nil
}

// Unfetched reports whether the file is still with its platform alone.
func (f File) Unfetched() bool { return f.FileID != "" && f.Path == "" && f.Failed == "" }

// Unfetched reports whether one of the parts stands for a file that is still with its
// platform alone.
func Unfetched(parts []uimessage.Part) bool {
	for _, p := range parts {
		if f, ok := FileOf(p); ok && f.Unfetched() {
			return true
		}
	}
	return false
}

// Errors of downloads.
var (
	// ErrTooLarge: the file has more bytes than are taken.
	ErrTooLarge = errors.New("the file is too large")
	// ErrNoFile: the platform does not have the file, or no longer.
	ErrNoFile = errors.New("the platform does not hand the file out")
)

// Downloader is a platform that hands out the files people sent. It is safe for
// concurrent use.
type Downloader interface {
	// Download writes a file to w, at most limit bytes of it; a larger one is
	// [ErrTooLarge] and what was written is not to be used. Errors hold no credential.
	Download(ctx context.Context, file File, w io.Writer, limit int64) error
}
