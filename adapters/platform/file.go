package platform

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// FilePart is the name of the data parts that represent files people sent.
const FilePart = "chat-file"

// File is a file that somebody sent, as the data part of a turn keeps it. It contains no URL,
// because the URLs of some services carry a credential.
type File struct {
	Kind   string `json:"kind"` // photo, document, voice, audio, video, …
	FileID string `json:"fileId"`
	Unique string `json:"fileUniqueId,omitempty"`
	Name   string `json:"name,omitempty"` // as named by its sender
	Mime   string `json:"mimeType,omitempty"`
	Size   int64  `json:"size,omitempty"` // as reported by its sender
	// Seconds is the playing time as reported by the sender, or 0 if unknown or not applicable.
	Seconds int64 `json:"seconds,omitempty"`
	// Answered: the file belongs to the message that the sender's message replies to.
	Answered bool `json:"answered,omitempty"`
	// Path is the location of the host's copy in its file folder, under a name chosen by the host.
	// Failed says why there is no copy.
	Path   string `json:"path,omitempty"`
	Failed string `json:"failed,omitempty"`
	// NoTranscript says why transcription failed, as one of the reasons of package speech; the sender
	// was notified. It is empty if the transcript exists or was not requested.
	NoTranscript string `json:"unheard,omitempty"`
	// Picture is what models are shown of an image or a document, if anything.
	Picture *messages.Picture `json:"picture,omitempty"`
}

// Part returns the file as a part of a turn.
func (f File) Part() uimessage.Data {
	raw, err := json.Marshal(f)
	if err != nil {
		raw = json.RawMessage(`{"failed":"unreadable"}`) // Unreachable: strings and a number
	}
	return uimessage.Data{Name: FilePart, Data: raw}
}

// FileOf returns the file that a part represents.
func FileOf(part uimessage.Part) (File, bool) {
	d, ok := part.(uimessage.Data)
	if !ok || d.Name != FilePart {
		return File{}, false
	}
	var f File
	return f, json.Unmarshal(d.Data, &f) == nil
}

// Unfetched reports whether the file has not been downloaded from its platform yet.
func (f File) Unfetched() bool { return f.FileID != "" && f.Path == "" && f.Failed == "" }

// Unfetched reports whether one of the parts represents a file that has not been downloaded from
// its platform yet.
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
	// ErrTooLarge: the file exceeds the size limit.
	ErrTooLarge = errors.New("the file is too large")
	// ErrNoFile: the platform does not have the file, or not any longer.
	ErrNoFile = errors.New("the platform does not provide the file")
)

// Downloader is a platform that can download the files people sent. It is safe for concurrent use.
type Downloader interface {
	// Download writes a file to w, at most limit bytes. For a larger file it returns [ErrTooLarge],
	// and the bytes written must be discarded. Errors contain no credentials.
	Download(ctx context.Context, file File, w io.Writer, limit int64) error
}
