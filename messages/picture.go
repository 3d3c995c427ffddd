package messages

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Picture is a stored file that a model receives in its own format: an image, or a PDF
// document. The bytes at Path never change, so that the prefix of requests stays equal.
type Picture struct {
	// Path is below the host's folder of files, in the folder of the picture's chat.
	Path string `json:"path"`
	// Mime is image/jpeg, application/pdf, or text/plain of a short text.
	Mime string `json:"mime"`
	// Name is its name for people, and Of the path of the file that it was made from, if
	// that is kept as well.
	Name   string `json:"name,omitempty"`
	Of     string `json:"of,omitempty"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
}

// The media types of PDF documents and of texts.
const (
	MimePDF  = "application/pdf"
	MimeText = "text/plain"
)

// pictureScheme begins the links of pictures. Only the host reads it.
const pictureScheme = "ship-file:"

// Link names the picture of a chat in a model message. It is never sent to a provider:
// the model's client replaces it with the bytes, or with a note.
func (p Picture) Link(chat ChatKey) string {
	return pictureScheme + url.PathEscape(string(chat)) + "/" + p.Path
}

// PictureOf reads such a link.
func PictureOf(link string) (chat ChatKey, path string, ok bool) {
	rest, ok := strings.CutPrefix(link, pictureScheme)
	if !ok {
		return "", "", false
	}
	key, path, ok := strings.Cut(rest, "/")
	if !ok || path == "" {
		return "", "", false
	}
	name, err := url.PathUnescape(key)
	return ChatKey(name), path, err == nil && name != ""
}

// pictureMember is the host's member of provider metadata and provider options.
const pictureMember = "shipmyagent"

type pictureMetadata struct {
	Pictures []Picture `json:"pictures,omitempty"`
	Note     string    `json:"note,omitempty"`
}

// WithPictures adds the pictures of a tool's result to the provider metadata of the
// result. Neither models nor tools can write there.
func WithPictures(metadata json.RawMessage, pictures []Picture) json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(metadata, &all) // anything but an object is replaced
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	own, err := json.Marshal(pictureMetadata{Pictures: pictures})
	if err != nil {
		return metadata // Unreachable: strings and numbers encode.
	}
	all[pictureMember] = own
	out, err := json.Marshal(all)
	if err != nil {
		return metadata
	}
	return out
}

// PicturesOf reads the pictures of a tool's result.
func PicturesOf(metadata json.RawMessage) []Picture { return ownMetadata(metadata).Pictures }

// NoteOptions are the provider options of a file part with the note that a model reads
// instead of a file that it does not accept.
func NoteOptions(note string) json.RawMessage {
	out, err := json.Marshal(map[string]pictureMetadata{pictureMember: {Note: note}})
	if err != nil {
		return nil // Unreachable: a string encodes.
	}
	return out
}

// NoteOf reads such a note. It is empty if there is none.
func NoteOf(options json.RawMessage) string { return ownMetadata(options).Note }

func ownMetadata(raw json.RawMessage) pictureMetadata {
	var all map[string]json.RawMessage
	var own pictureMetadata
	if len(raw) == 0 || json.Unmarshal(raw, &all) != nil || json.Unmarshal(all[pictureMember], &own) != nil {
		return pictureMetadata{}
	}
	return own
}
