package platform

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Capabilities say what a platform can do. They are a value that stays the same for as
// long as the platform lives; the core adapts to them ([Capabilities.Fit]), and people
// are told of them ([Capabilities.Words]). What is declared is so, and what is not
// declared is not: the suite of package platformtest tries both.
type Capabilities struct {
	// Outbox: the core keeps a durable outbox for the platform's chats. Places
	// where the reader fetches the history need none (web, cli, api).
	Outbox bool
	// ToolEgress: by default the model answers through chat_send.
	ToolEgress bool

	// MaxText is the longest text of one message, in UTF-16 units; 0: none is too
	// long. Longer answers are sent in pages, each in as many messages as it takes.
	MaxText int
	// Buttons: requests for approval are answered by buttons, too. Without, their
	// text says how to answer in words; it always does.
	Buttons bool
	// Cards: the buttons stand on a card of their own, which the service may refuse
	// where it takes texts. Without, they hang below the last message of a text.
	Cards bool
	// Drafts: a text under way is shown and grows ([Editor], [Drafter]). Without,
	// people see the finished text, and that something is being made ([Typer]).
	Drafts bool
	// DraftEvery is the shortest time between two edits of a draft, by chat type;
	// the entry "" holds for all others.
	DraftEvery map[string]time.Duration
	// Threads: a thread of a chat is a chat of its own, with a key of its own.
	// Without, its messages belong to the chat that they are in.
	Threads bool
	// Reactions: people's messages are marked with what became of them ([Marker]).
	Reactions bool

	// Edits: the platform tells when people change a message ([KindEdit]). Without,
	// the words stay as they were first sent.
	Edits bool
	// VoiceIn: what people say into their device comes as a file of [FileVoice].
	VoiceIn bool
	// Files are the kinds of attachments that people get from it as such, which
	// [Capabilities.Sends] tells; [FileVoice] among them is voice out. Another kind goes
	// out as [FileDocument] where that is one of them, and else is named in the text.
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

// FileKinds are the kinds of files.
func FileKinds() []string { return []string{FilePhoto, FileDocument, FileVoice, FileAudio, FileVideo} }

// Rates are the limits that the service sets; zero means none. The core keeps to them.
type Rates struct {
	PerChat   Rate // of any one chat
	PerGroup  Rate // of any one group, beside PerChat
	PerSender Rate // of the whole account
	// Burst is how many times PerChat a chat of one person may send at once, with
	// as long a pause after it; 0 is 1.
	Burst int
}

// Rate is N sends in a time.
type Rate struct {
	N   int
	Per time.Duration
}

// Sends reports whether attachments of a kind go out as such; no kind is a document.
func (c Capabilities) Sends(kind string) bool {
	if !slices.Contains(FileKinds(), kind) {
		kind = FileDocument
	}
	return slices.Contains(c.Files, kind)
}

// Fit makes a message one that the platform can send, and loses nothing that people
// have to know: requests keep their words where there are no buttons, a voice is
// written where nobody can hear it, and files that cannot go are named. It is pure, as [Sender.Plan] is.
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

// words stand for a file that people do not get: those that it speaks, or its name.
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

// Words say what the platform can do, for people who set it up, one ability each.
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

// short is a time as people say it.
func short(d time.Duration) string {
	if unit, ok := map[time.Duration]string{time.Second: "second", time.Minute: "minute"}[d]; ok {
		return unit
	}
	return d.String()
}
