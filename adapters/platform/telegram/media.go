package telegram

import (
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxFileName is the longest file name that is passed on, in runes.
const maxFileName = 100

// A checklist has at most maxTasks tasks of maxTask characters; the service allows no more.
const (
	maxTasks = 30
	maxTask  = 300
)

// maxFileID is the longest id of a file, in bytes. The service's own are about 90.
const maxFileID = 512

// parts are a readable placeholder and, for files, a data part. People's own
// words, the caption, are not among them.
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
		if f.Thumbnail == nil { // there is no picture of it
			return []uimessage.Part{uimessage.Text{Text: placeholder(kind, label)}}
		}
		f = f.Thumbnail
	}
	ref := platform.File{
		Kind: kind, FileID: f.ID, Unique: tidy(f.Unique, maxFileName), Name: fileName(f.Name), Mime: tidy(f.Mime, maxFileName), Size: max(0, f.Size), Seconds: f.plays(),
	}
	if ref.FileID == "" || len(ref.FileID) > maxFileID {
		return []uimessage.Part{uimessage.Text{Text: placeholder(kind, ref.Name, label)}}
	}
	return []uimessage.Part{uimessage.Text{Text: placeholder(kind, ref.Name, label)}, ref.Part()}
}

// fileName is the last part of what somebody says a file is called; a path or an
// address is not a name.
func fileName(s string) string {
	if i := strings.LastIndexAny(s, `/\`); i >= 0 {
		s = s[i+1:]
	}
	if s = tidy(s, maxFileName); strings.Trim(s, ". ") == "" {
		return ""
	}
	return s
}

// file is the one file of a message, with its kind.
func (m *media) file() (string, *file) {
	if len(m.Photo) > 0 { // the largest comes last
		return "photo", &m.Photo[len(m.Photo)-1]
	}
	for _, x := range []struct {
		kind string
		file *file
	}{
		// An animation comes as a document too.
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
		return tidy(f.Emoji, maxFileName)
	case f.Title != "":
		return tidy(f.Title, maxFileName)
	case f.Duration > 0:
		return strconv.Itoa(f.Duration) + " s"
	}
	return ""
}

// other are the things that are no files.
func (m *media) other() string {
	switch {
	case m.Venue != nil:
		return placeholder("venue", tidy(m.Venue.Title, maxFileName), tidy(m.Venue.Address, maxFileName))
	case m.Location != nil:
		return placeholder("location", strconv.FormatFloat(m.Location.Latitude, 'f', 5, 64)+","+strconv.FormatFloat(m.Location.Longitude, 'f', 5, 64))
	case m.Contact != nil:
		return placeholder("contact", tidy(m.Contact.FirstName+" "+m.Contact.LastName, maxFileName), tidy(m.Contact.Phone, maxFileName))
	case m.Poll != nil:
		return placeholder("poll", tidy(m.Poll.Question, 300))
	case m.Dice != nil:
		return placeholder("dice", tidy(m.Dice.Emoji, maxFileName), strconv.Itoa(m.Dice.Value))
	case m.Checklist != nil:
		return m.checklist()
	case m.Game != nil:
		return placeholder("game", tidy(m.Game.Title, maxFileName))
	case m.Invoice != nil:
		return placeholder("invoice", tidy(m.Invoice.Title, maxFileName))
	case len(m.PaidMedia) > 0:
		return placeholder("paid media")
	case len(m.Giveaway) > 0:
		return placeholder("giveaway")
	case len(m.Story) > 0:
		return placeholder("story")
	}
	return ""
}

// checklist is a list of things to do, each on its line.
func (m *media) checklist() string {
	lines := []string{placeholder("checklist", tidy(m.Checklist.Title, maxTask))}
	for _, t := range m.Checklist.Tasks[:min(len(m.Checklist.Tasks), maxTasks)] {
		lines = append(lines, "- "+tidy(t.Text, maxTask))
	}
	return strings.Join(lines, "\n")
}

// placeholder stands for what is not text, as in [document a.pdf].
func placeholder(words ...string) string {
	kept := words[:0:0]
	for _, w := range words {
		if w = strings.NewReplacer("[", "(", "]", ")").Replace(w); w != "" {
			kept = append(kept, w)
		}
	}
	return "[" + strings.Join(kept, " ") + "]"
}
