package wire

import (
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// PictureOf returns the picture of the message that this one replies to, in a group: people point
// at pictures that were not meant for the bot. In private chats the bot has already seen it.
func PictureOf(msg *Message, private bool) []uimessage.Part {
	if private || msg.ReplyTo == nil || msg.RepliesTo() == "" {
		return nil
	}
	kind, f := msg.ReplyTo.File()
	if f == nil || kind != "photo" && kind != "sticker" && (kind != "document" || !strings.HasPrefix(f.Mime, "image/")) {
		return nil
	}
	parts := msg.ReplyTo.Parts()
	if len(parts) < 2 { // it cannot be downloaded
		return nil
	}
	parts[0] = uimessage.Text{Text: "[" + kind + " of the message that this one answers]"}
	of, _ := platform.FileOf(parts[1]) // m.parts has just encoded it
	of.Answered = true
	parts[1] = of.Part()
	return parts
}

// FirstText returns the first text of parts.
func FirstText(parts []uimessage.Part) string {
	for _, p := range parts {
		if t, ok := p.(uimessage.Text); ok {
			return t.Text
		}
	}
	return ""
}

// maxFileID is the maximum length of a file id, in bytes. The service's own are about 90.
const maxFileID = 512

// Parts returns a readable placeholder and, for files, a data part. The caption, which is the
// sender's own text, is not included.
func (m *Media) Parts() []uimessage.Part {
	kind, f := m.File()
	if f == nil {
		if text := m.other(); text != "" {
			return []uimessage.Part{uimessage.Text{Text: text}}
		}
		return nil
	}
	label := f.label()
	if m.Sticker == f && (f.Animated || f.Moving) {
		if f.Thumbnail == nil { // it has no preview picture
			return []uimessage.Part{uimessage.Text{Text: botkit.Placeholder(kind, label)}}
		}
		f = f.Thumbnail
	}
	ref := platform.File{
		Kind: kind, FileID: f.ID, Unique: botkit.Tidy(f.Unique, botkit.MaxFileName), Name: botkit.FileName(f.Name), Mime: botkit.Tidy(f.Mime, botkit.MaxFileName), Size: max(0, f.Size), Seconds: f.plays(),
	}
	if ref.FileID == "" || len(ref.FileID) > maxFileID {
		return []uimessage.Part{uimessage.Text{Text: botkit.Placeholder(kind, ref.Name, label)}}
	}
	return []uimessage.Part{uimessage.Text{Text: botkit.Placeholder(kind, ref.Name, label)}, ref.Part()}
}

// File returns the file of a message, with its kind. A message has at most one.
func (m *Media) File() (string, *File) {
	if len(m.Photo) > 0 { // the largest size is the last
		return "photo", &m.Photo[len(m.Photo)-1]
	}
	for _, x := range []struct {
		kind string
		file *File
	}{
		// An animation is also included as a document.
		{"animation", m.Animation},
		{"voice", m.Voice},
		{"audio", m.Audio},
		{"video", m.Video},
		{"video note", m.VideoNote},
		{"sticker", m.Sticker},
		{"document", m.Document},
	} {
		if x.file != nil {
			return x.kind, x.file
		}
	}
	return "", nil
}

func (f *File) label() string {
	switch {
	case f.Emoji != "":
		return botkit.Tidy(f.Emoji, botkit.MaxFileName)
	case f.Title != "":
		return botkit.Tidy(f.Title, botkit.MaxFileName)
	case f.Duration > 0:
		return strconv.Itoa(f.Duration) + " s"
	}
	return ""
}

// other describes content that is not a file. Rarer kinds, such as games and dice, are as if there were no content.
func (m *Media) other() string {
	switch {
	case m.Venue != nil:
		return botkit.Placeholder("venue", botkit.Tidy(m.Venue.Title, botkit.MaxFileName), botkit.Tidy(m.Venue.Address, botkit.MaxFileName))
	case m.Location != nil:
		return botkit.Placeholder("location", strconv.FormatFloat(m.Location.Latitude, 'f', 5, 64)+","+strconv.FormatFloat(m.Location.Longitude, 'f', 5, 64))
	case m.Contact != nil:
		return botkit.Placeholder("contact", botkit.Tidy(m.Contact.FirstName+" "+m.Contact.LastName, botkit.MaxFileName), botkit.Tidy(m.Contact.Phone, botkit.MaxFileName))
	case m.Poll != nil:
		return botkit.Placeholder("poll", botkit.Tidy(m.Poll.Question, 300))
	}
	return ""
}

// File has the fields that photos, documents, voices and similar files share.
type File struct {
	ID       string `json:"file_id"`
	Unique   string `json:"file_unique_id"`
	Name     string `json:"file_name"`
	Mime     string `json:"mime_type"`
	Size     int64  `json:"file_size"`
	Duration int    `json:"duration"`
	Title    string `json:"title"`
	Emoji    string `json:"emoji"`
	// Animated and Moving stickers are not pictures; their Thumbnail is.
	Animated  bool  `json:"is_animated"`
	Moving    bool  `json:"is_video"`
	Thumbnail *File `json:"thumbnail"`
}

// Media is the content of a message that is not text. A message has at most one of the fields.
type Media struct {
	Photo     []File `json:"photo"`
	Document  *File  `json:"document"`
	Voice     *File  `json:"voice"`
	Audio     *File  `json:"audio"`
	Video     *File  `json:"video"`
	VideoNote *File  `json:"video_note"`
	Animation *File  `json:"animation"`
	Sticker   *File  `json:"sticker"`
	Contact   *struct {
		Phone     string `json:"phone_number"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	} `json:"contact"`
	Location *struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Live      int     `json:"live_period"`
	} `json:"location"`
	Venue *struct {
		Title   string `json:"title"`
		Address string `json:"address"`
	} `json:"venue"`
	Poll *struct {
		Question string `json:"question"`
	} `json:"poll"`
}

// plays is the playing time of a file in seconds, as reported by the sender.
func (f *File) plays() int64 { return max(0, int64(f.Duration)) }
