package telegram

import (
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// A checklist has at most maxTasks tasks of maxTask characters, the limits of the service.
const (
	maxTasks = 30
	maxTask  = 300
)

// maxFileID is the maximum length of a file id, in bytes. The service's own are about 90.
const maxFileID = 512

// parts returns a readable placeholder and, for files, a data part. The caption, which is the
// sender's own text, is not included.
func (m *media) parts() []uimessage.Part {
	kind, f := m.file()
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

// file returns the file of a message, with its kind. A message has at most one.
func (m *media) file() (string, *file) {
	if len(m.Photo) > 0 { // the largest size is the last
		return "photo", &m.Photo[len(m.Photo)-1]
	}
	for _, x := range []struct {
		kind string
		file *file
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

func (f *file) label() string {
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

// other describes content that is not a file.
func (m *media) other() string {
	switch {
	case m.Venue != nil:
		return botkit.Placeholder("venue", botkit.Tidy(m.Venue.Title, botkit.MaxFileName), botkit.Tidy(m.Venue.Address, botkit.MaxFileName))
	case m.Location != nil:
		return botkit.Placeholder("location", strconv.FormatFloat(m.Location.Latitude, 'f', 5, 64)+","+strconv.FormatFloat(m.Location.Longitude, 'f', 5, 64))
	case m.Contact != nil:
		return botkit.Placeholder("contact", botkit.Tidy(m.Contact.FirstName+" "+m.Contact.LastName, botkit.MaxFileName), botkit.Tidy(m.Contact.Phone, botkit.MaxFileName))
	case m.Poll != nil:
		return botkit.Placeholder("poll", botkit.Tidy(m.Poll.Question, 300))
	case m.Dice != nil:
		return botkit.Placeholder("dice", botkit.Tidy(m.Dice.Emoji, botkit.MaxFileName), strconv.Itoa(m.Dice.Value))
	case m.Checklist != nil:
		return m.checklist()
	case m.Game != nil:
		return botkit.Placeholder("game", botkit.Tidy(m.Game.Title, botkit.MaxFileName))
	case m.Invoice != nil:
		return botkit.Placeholder("invoice", botkit.Tidy(m.Invoice.Title, botkit.MaxFileName))
	case len(m.PaidMedia) > 0:
		return botkit.Placeholder("paid media")
	case len(m.Giveaway) > 0:
		return botkit.Placeholder("giveaway")
	case len(m.Story) > 0:
		return botkit.Placeholder("story")
	}
	return ""
}

// checklist is a list of tasks, one per line.
func (m *media) checklist() string {
	lines := []string{botkit.Placeholder("checklist", botkit.Tidy(m.Checklist.Title, maxTask))}
	for _, t := range m.Checklist.Tasks[:min(len(m.Checklist.Tasks), maxTasks)] {
		lines = append(lines, "- "+botkit.Tidy(t.Text, maxTask))
	}
	return strings.Join(lines, "\n")
}
