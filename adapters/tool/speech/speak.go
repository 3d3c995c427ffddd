package speech

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/ogg"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// SpeakName is the name of the tool that sends a voice message.
const SpeakName = "tts_speak"

// speakDeadline includes the time to wait for other texts.
const speakDeadline = 2 * time.Minute

//go:embed *.md *.schema.json
var docs embed.FS

// Way is how a recording is delivered to the people of a chat.
type Way string

// The ways of delivering a recording.
const (
	WayVoice Way = "voice" // as a voice message
	WayFile  Way = "file"  // as an audio file
	WayHere  Way = "here"  // not sent: people play it in the history
	WayText  Way = "text"  // not at all: people get the text
)

// SpeakOptions configure the tool. All but Link are required.
type SpeakOptions struct {
	Speaker *speech.Speaker
	Files   tool.ChatFiles
	// Way returns how recordings are delivered to a chat.
	Way func(key messages.ChatKey) Way
	// Link, if not nil, returns the link to a file of the chat, or "" if the chat has no web page.
	Link   func(key messages.ChatKey, name string) string
	Logger *slog.Logger
}

// Speak is the tool tts_speak.
type Speak struct {
	tool.Described

	o SpeakOptions
}

// NewSpeak makes the tool. A repeated call uses the same file and does not send its message again.
func NewSpeak(o SpeakOptions) *Speak {
	return &Speak{tool.DescribedBy(docs, "speak", &tool.Spec{
		Name: SpeakName, Title: "Speak", Repeatable: true, Ordered: true, Deadline: speakDeadline,
	}), o}
}

// audio describes a recording to the model and to web pages.
type audio struct {
	Path      string  `json:"path"`
	URL       string  `json:"url,omitempty"`
	MediaType string  `json:"mediaType"`
	Seconds   float64 `json:"seconds,omitempty"`
}

// answer is the result for the model.
type answer struct {
	Delivered bool   `json:"delivered"`
	As        Way    `json:"as"`
	Skipped   string `json:"skipped,omitempty"`
	Audio     *audio `json:"audio,omitempty"`
	Note      string `json:"note,omitempty"`
}

// Invoke implements [tool.Tool].
func (s *Speak) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Text    string `json:"text"`
		Voice   string `json:"voice"`
		ReplyTo string `json:"replyTo"`
		Final   bool   `json:"final"`
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	text := strings.TrimSpace(in.Text)
	if most := s.o.Speaker.MaxLetters(); len([]rune(text)) > most {
		return tool.Result{}, fmt.Errorf("%w: /text has more than %d characters; say less, or write it", tool.ErrInput, most)
	}
	if text == "" {
		return answer{Skipped: "empty", Note: "Nothing was said: there are no words."}.result("")
	}
	a, out := answer{As: s.o.Way(call.Run.ChatKey)}, tool.Outgoing{ReplyTo: in.ReplyTo}
	if a.As == WayText {
		out.Text, a.Note = text, "Voice messages cannot be sent here; people got the words as text."
	} else {
		file, err := s.recording(ctx, call, speech.Words{Text: text, Voice: in.Voice})
		if err != nil {
			s.o.Logger.WarnContext(ctx, "a text could not be spoken", "chat_key", string(call.Run.ChatKey), "run_id", call.Run.RunID, "request_id", call.Run.RequestID, "error", err)
			return tool.Result{}, failed("the words could not be spoken, and nothing was sent; answer in writing", err)
		}
		a.Audio = &file.audio
		ref := messages.FileRef{Path: file.whole, Kind: "voice", Spoken: text}
		if path.Ext(file.Path) != ".opus" || a.As == WayFile {
			ref.Kind = "audio"
		}
		if a.As == WayVoice && ref.Kind == "audio" {
			a.As = WayFile
		}
		out.Files = []messages.FileRef{ref}
	}
	d, err := call.Egress.Send(ctx, call.ID, out)
	if err != nil {
		return tool.Result{}, fmt.Errorf("send: %w", err)
	}
	a.told(d)
	final := in.Final && !d.Parked && (d.Skipped == "" || d.Skipped == "duplicate") && call.Run.Sole && call.Run.LaneEmpty
	if in.Final && !final {
		a.Note = strings.TrimSpace(a.Note + " The run goes on.")
	}
	result, err := a.result(text)
	result.Final = final
	return result, err
}

// told describes a delivery.
func (a *answer) told(d tool.Delivery) {
	a.Delivered, a.Skipped = d.Delivered, d.Skipped
	more := ""
	switch {
	case d.Skipped == "duplicate":
		more = "The same was sent before; it was not sent again."
	case d.Skipped != "":
		more = "Nothing was sent."
	case d.Parked:
		more = "The platform refused it; a person has to look at it. Do not send it again."
	case !d.Delivered:
		more = "It is on its way and arrives by itself. Do not send it again."
	}
	a.Note = strings.TrimSpace(a.Note + " " + more)
}

func (a answer) result(said string) (tool.Result, error) {
	summary := tool.Shorten(said, 200)
	if a.Audio != nil {
		summary += " (" + a.Audio.Path + ")"
	}
	return tool.Answer(a, summary)
}

// kept is a recording that is stored in the files of its chat.
type kept struct {
	audio
	whole string // full path
}

// endings are the file extensions of recordings, with their media types.
func endings() map[string]string {
	return map[string]string{".opus": "audio/ogg", ".mp3": "audio/mpeg", ".wav": "audio/wav"}
}

// recording synthesizes the text to a file of the chat, or finds the file if the call is repeated after a crash. The
// file is synced before anything refers to it.
func (s *Speak) recording(ctx context.Context, call tool.Call, w speech.Words) (kept, error) {
	folder, own, err := s.o.Files.Place(call.Run.ChatKey)
	if err != nil {
		return kept{}, err
	}
	sum := sha256.Sum256([]byte(call.Run.MessageID + "\x00" + call.ID + "\x00" + w.Voice + "\x00" + w.Text))
	name := "speech-" + hex.EncodeToString(sum[:12])
	for ending := range endings() {
		if data, err := os.ReadFile(filepath.Join(folder, name+ending)); err == nil {
			return s.keptAs(call.Run.ChatKey, folder, own, name+ending, bytes.NewReader(data)), nil
		}
	}
	r, err := s.o.Speaker.Speak(ctx, string(call.Run.ChatKey), w)
	if err != nil {
		return kept{}, err
	}
	if _, err := s.o.Files.Store(call.Run.ChatKey, name+r.Ending, r.Data); err != nil {
		return kept{}, fmt.Errorf("keep a recording: %w", err)
	}
	return s.keptAs(call.Run.ChatKey, folder, own, name+r.Ending, bytes.NewReader(r.Data)), nil
}

func (s *Speak) keptAs(key messages.ChatKey, folder, own, name string, data io.Reader) kept {
	k := kept{whole: filepath.Join(folder, name), audio: audio{Path: path.Join(own, name), MediaType: endings()[path.Ext(name)]}}
	if plays, err := ogg.Length(data); err == nil {
		k.Seconds = plays.Seconds()
	}
	if s.o.Link != nil {
		k.URL = s.o.Link(key, name)
	}
	return k
}
