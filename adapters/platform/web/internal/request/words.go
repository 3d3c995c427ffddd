package request

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Words are a person's message: the text and what accompanies it.
type Words struct {
	Text  string
	Parts []uimessage.Part
	At    int // how many parts of the message precede the text
}

// WordsOf extracts from a client's message what people may send: texts, and files that the message
// contains or that were uploaded to its chat. The first text is the message's text; nothing is
// joined or changed, and what clients add to parts is dropped.
func WordsOf(chat string, m uimessage.Message) (Words, *respond.Problem) {
	var out Words
	said, files := false, 0
	for i, part := range m.Parts {
		switch p := part.(type) {
		case uimessage.Text:
			if !said && strings.TrimSpace(p.Text) != "" {
				out.Text, out.At, said = p.Text, i, true
			} else if p.Text != "" {
				out.Parts = append(out.Parts, uimessage.Text{Text: p.Text})
			}
		case uimessage.File:
			if _, uploaded := StoredName(chat, p.URL); !uploaded && !strings.HasPrefix(p.URL, "data:") {
				return Words{}, respond.BadRequest("remote_file", "Files are sent as data URLs, or uploaded to this chat first.")
			}
			files++
			out.Parts = append(out.Parts, uimessage.File{MediaType: p.MediaType, URL: p.URL, Filename: p.Filename})
		case uimessage.Reasoning, uimessage.Tool, uimessage.SourceURL, uimessage.SourceDocument,
			uimessage.Data, uimessage.StepStart, uimessage.Unknown:
			return Words{}, respond.BadRequest("bad_part", "A user message holds texts and files only.")
		}
	}
	if !said && files == 0 {
		return Words{}, respond.BadRequest("empty", "The message is empty.")
	}
	return out, nil
}

// SameWords reports whether a stored turn equals a client's message: the same texts and the same
// number of files. The store may have added parts of its own.
func SameWords(turn uimessage.Message, w Words) bool {
	texts, files := wordLists(turn.Parts)
	want, wantFiles := wordLists(w.Parts)
	if w.Text != "" {
		want = append([]string{w.Text}, want...)
	}
	return files == wantFiles && begins(texts, want)
}

// sameTexts reports whether a stored turn has the texts of a client's message, whatever else either has.
func sameTexts(turn, m uimessage.Message) bool {
	texts, _ := wordLists(turn.Parts)
	want, _ := wordLists(m.Parts)
	return begins(texts, want)
}

func begins(texts, want []string) bool {
	return len(texts) >= len(want) && slices.Equal(texts[:len(want)], want)
}

func wordLists(parts []uimessage.Part) (texts []string, files int) {
	for _, part := range parts {
		if t, ok := part.(uimessage.Text); ok && strings.TrimSpace(t.Text) != "" {
			texts = append(texts, t.Text)
		}
		if _, ok := part.(uimessage.File); ok {
			files++
		}
	}
	return texts, files
}

// split divides a stored user turn in the way in which WordsOf divides a client's message: its text, the rest, and how
// many parts precede the text.
func split(parts []uimessage.Part) (text string, rest []uimessage.Part, at int) {
	at = slices.IndexFunc(parts, func(part uimessage.Part) bool {
		t, ok := part.(uimessage.Text)
		return ok && strings.TrimSpace(t.Text) != ""
	})
	if at < 0 {
		return "", parts, 0
	}
	said, _ := parts[at].(uimessage.Text)
	return said.Text, slices.Concat(parts[:at], parts[at+1:]), at
}

func onlyTexts(m uimessage.Message) bool {
	return !slices.ContainsFunc(m.Parts, func(p uimessage.Part) bool {
		_, ok := p.(uimessage.Text)
		return !ok
	})
}
