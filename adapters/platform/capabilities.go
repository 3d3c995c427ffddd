package platform

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Capabilities say what a platform can do. They do not change while the platform lives. The core
// adapts to them ([Capabilities.Fit]) and lists them for people ([Capabilities.Words]). The suite
// in package platformtest checks both that declared capabilities work and that undeclared ones are
// absent.
type Capabilities struct {
	// Outbox: the core keeps a durable outbox for the platform's chats. Platforms whose readers
	// fetch the history do not need one (web, cli, api).
	Outbox bool
	// ToolEgress: by default the model answers through chat_send.
	ToolEgress bool

	// MaxText is the longest text of one message, in UTF-16 units; 0 means no limit. Longer answers
	// are sent in pages, each in as many messages as it takes.
	MaxText int
	// Buttons: requests for approval can also be answered by buttons. In any case their text
	// explains how to answer in words.
	Buttons bool
	// Cards: the buttons are on a separate card, which the service may refuse even where it accepts
	// texts. Otherwise they are attached to the last message of a text.
	Cards bool
	// Drafts: unfinished text is shown and grows ([Editor], [Drafter]). Otherwise people see a
	// typing indicator ([Typer]) and then the finished text.
	Drafts bool
	// DraftEvery is the minimum interval between two edits of a draft, by chat type; the entry ""
	// applies to all other types.
	DraftEvery map[string]time.Duration
	// Threads: a thread of a chat is a chat of its own, with its own key. Otherwise its messages
	// belong to the chat that contains it.
	Threads bool
	// Reactions: people's messages are marked with their outcome ([Marker]).
	Reactions bool

	// Edits: the platform reports changed messages ([KindEdit]). Otherwise the original text is
	// kept.
	Edits bool
	// VoiceIn: voice messages arrive as files of kind [FileVoice].
	VoiceIn bool
	// Files are the kinds of attachments that are delivered as such, see [Capabilities.Sends];
	// [FileVoice] among them means voice output. Other kinds are sent as [FileDocument] if that is
	// listed, and otherwise named in the text.
	Files []string

	Rates Rates
}

// The kinds of files.
const (
	FilePhoto    = "photo"
	FileDocument = "document"
	FileVoice    = "voice"
	FileAudio    = "audio"
	FileVideo    = "video"
)

// FileKinds returns the kinds of files.
func FileKinds() []string { return []string{FilePhoto, FileDocument, FileVoice, FileAudio, FileVideo} }

// Rates are the limits that the service sets; zero means unlimited. The core respects them.
type Rates struct {
	PerChat   Rate // for each chat
	PerGroup  Rate // for each group, in addition to PerChat
	PerSender Rate // for the whole account
	// Burst is how many times PerChat a private chat may send at once, followed by a proportionally
	// long pause; 0 means 1.
	Burst int
}

// Rate is N sends per duration.
type Rate struct {
	N   int
	Per time.Duration
}

// Sends reports whether attachments of a kind are sent as such; an unknown kind counts as a
// document.
func (c Capabilities) Sends(kind string) bool {
	if !slices.Contains(FileKinds(), kind) {
		kind = FileDocument
	}
	return slices.Contains(c.Files, kind)
}

// Fit adapts a message to what the platform can send without losing necessary information: requests
// keep their text where there are no buttons, a voice is written out where it cannot be played, and
// files that cannot be sent are named. Fit is pure, like [Sender.Plan].
func (c Capabilities) Fit(out Outbound) Outbound {
	if !c.Buttons {
		out.Asks = nil
	}
	var fitting []Attachment
	for _, a := range out.Attachments {
		switch {
		case c.Sends(a.Kind):
		case c.Sends(FileDocument) && a.Spoken == "":
			a.Kind = FileDocument
		default:
			out.Text = strings.TrimSpace(out.Text + "\n\n" + a.words())
			continue
		}
		fitting = append(fitting, a)
	}
	out.Attachments = fitting
	return out
}

// words stand in for a file that cannot be sent: its spoken text, or its name.
func (a Attachment) words() string {
	if a.Spoken != "" {
		return a.Spoken
	}
	name := a.Kind
	if a.Path != "" {
		name = filepath.Base(a.Path)
	}
	words := "📎 " + strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*_~[]()<>#\\|\n\r", r) {
			return ' '
		}
		return r
	}, name)
	if a.Caption != "" {
		words += "\n\n" + a.Caption
	}
	return words
}

// Words describe the platform's capabilities for people who set it up, one capability each.
func (c Capabilities) Words() []string {
	var out []string
	say := func(can bool, words string) {
		if can {
			out = append(out, words)
		}
	}
	say(c.MaxText > 0, "texts of "+strconv.Itoa(c.MaxText)+" characters")
	say(c.MaxText == 0, "texts of any length")
	say(c.Drafts, "drafts")
	say(c.Buttons && !c.Cards, "buttons")
	say(c.Buttons && c.Cards, "buttons on cards")
	say(c.Threads, "threads")
	say(c.Reactions, "reactions")
	say(c.Edits, "edits")
	say(c.VoiceIn, "voice in")
	say(c.Sends(FileVoice), "voice out")
	say(len(c.Files) > 0, "files ("+strings.Join(c.Files, ", ")+")")
	for _, r := range []struct {
		rate Rate
		of   string
	}{{c.Rates.PerChat, "a chat"}, {c.Rates.PerGroup, "a group"}, {c.Rates.PerSender, "all"}} {
		words := strconv.Itoa(r.rate.N) + " messages"
		if r.rate.N == 1 {
			words = "1 message"
		}
		say(r.rate.N > 0, words+" per "+short(r.rate.Per)+" to "+r.of)
	}
	return out
}

// short formats a duration for people.
func short(d time.Duration) string {
	if unit, ok := map[time.Duration]string{time.Second: "second", time.Minute: "minute"}[d]; ok {
		return unit
	}
	return d.String()
}
