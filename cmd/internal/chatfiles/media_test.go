package chatfiles

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// counter produces the given number of bytes.
type counter struct {
	platform.Platform

	bytes int
	err   error
}

func (c counter) Download(_ context.Context, _ platform.File, w io.Writer, limit int64) error {
	n, err := io.Copy(w, bytes.NewReader(bytes.Repeat([]byte("x"), c.bytes)))
	if n > limit {
		return platform.ErrTooLarge
	}
	return errors.Join(err, c.err)
}

// atMost is a limit of files.
func atMost(bytes int64) func() int64 { return func() int64 { return bytes } }

// fetching returns a fetcher for one platform and an empty folder.
func fetching(t *testing.T, from platform.Platform, o MediaOptions) *Media {
	t.Helper()
	o.Store, o.Platform = At(t.TempDir()), func(messages.ChatKey) platform.Platform { return from }
	return NewMedia(o)
}

// Whatever name a file arrives with, the host chooses the name, limits its length and keeps the
// file in the folder of its chat.
func TestIO12FilesHaveNamesOfTheHostsOwn(t *testing.T) {
	own := regexp.MustCompile(`^results/[^/]+/file-[0-9a-f]{16}\.[a-z0-9]{1,8}$`)
	for _, c := range []struct{ kind, name, mime, ending string }{
		{"document", "a.pdf", "application/pdf", ".pdf"},
		{"document", "A.PDF", "", ".pdf"},
		{"document", "../../../etc/passwd", "", ".bin"},
		{"document", `..\..\boot.ini`, "", ".ini"},
		{"document", "/abs/olute.txt", "", ".txt"},
		{"document", "", "", ".bin"},
		{"document", ".", "", ".bin"},
		{"document", "..", "", ".bin"},
		{"document", ".bashrc", "", ".bashrc"},
		{"document", "a.pdf\x00.sh", "", ".sh"},
		{"document", "a.p/df", "", ".bin"},
		{"document", "a.é", "", ".bin"},
		{"document", "a.\u202efdp", "", ".bin"},
		{"document", strings.Repeat("a", 5000) + ".txt", "", ".txt"},
		{"document", "a." + strings.Repeat("x", 300), "", ".bin"},
		{"document", "con", "", ".bin"},
		{"document", "a.txt\nb", "", ".bin"},
		{"photo", "../x.sh", "", ".jpg"},
		{"voice", "x", "text/html", ".ogg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fetching(t, counter{bytes: 7}, MediaOptions{Bytes: atMost(100)})
			f := platform.File{Kind: c.kind, FileID: "id", Name: c.name, Mime: c.mime}
			words := m.take(t.Context(), "telegram-chat-1", "5-1", &f)
			if !own.MatchString(f.Path) || !strings.HasSuffix(f.Path, c.ending) || f.Failed != "" || f.Size != 7 || !strings.Contains(words, f.Path) {
				t.Errorf("kept as %+v, %q", f, words)
			}
			if got := stdtest.Names(t, m.o.Store.Root); len(got) != 1 || got[0] != f.Path {
				t.Errorf("files: %q", got)
			}
			if info, err := os.Stat(filepath.Join(m.o.Store.Root, f.Path)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

// A failed download leaves no file behind and returns a message.
func TestIO12FilesThatAreNotTaken(t *testing.T) {
	for _, c := range []struct {
		name  string
		from  platform.Platform
		limit int64
		want  string
	}{
		{"larger than said", counter{bytes: 101}, 100, fileTooLarge},
		{"switched off", counter{bytes: 1}, 0, filesOff},
		{"gone", counter{err: platform.ErrNoFile}, 100, fileRefused},
		{"broken off", counter{bytes: 50, err: errors.New("reset")}, 100, fileFailed},
		{"a platform without files", nil, 100, fileRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			m := fetching(t, c.from, MediaOptions{Bytes: atMost(c.limit), Logger: slog.New(slog.NewTextHandler(&log, nil))})
			f := platform.File{Kind: "document", FileID: "id"}
			words := m.take(t.Context(), "telegram-chat-1", "5-1", &f)
			logged := strings.Count(log.String(), "a file of a chat could not be fetched")
			if f.Failed != c.want || f.Path != "" || f.Unfetched() || !strings.Contains(words, c.want) || (logged > 0) != (c.want == fileFailed) {
				t.Errorf("got %+v, %q, logged %d", f, words, logged)
			}
			if got := stdtest.Names(t, m.o.Store.Root); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

// recorded is a platform that delivers one recording.
type recorded struct {
	platform.Platform

	data []byte
}

func (r recorded) Download(_ context.Context, _ platform.File, w io.Writer, _ int64) error {
	_, err := w.Write(r.data)
	return err
}

// A transcription becomes the text of its turn. If it fails, the turn says so and the sender is
// told. Limits are checked against what the platform reports and against the file itself.
func TestVoicesBecomeText(t *testing.T) {
	for _, c := range []struct {
		name   string
		file   platform.File
		data   []byte
		err    error
		off    bool
		want   string // of the text
		why    string // of File.NoTranscript
		called int
	}{
		{"a voice", platform.File{Kind: "voice"}, speechtest.Voice(10), nil, false, "hello there", "", 1},
		{"a video note", platform.File{Kind: "video note"}, []byte("mp4"), nil, false, "hello there", "", 1},
		{"an audio", platform.File{Kind: "audio", Name: "a.mp3"}, []byte("ID3"), nil, false, "hello there", "", 1},
		{"a document", platform.File{Kind: "document", Name: "a.ogg"}, speechtest.Voice(10), nil, false, "", "", 0},
		{"too long, it says", platform.File{Kind: "voice", Seconds: 11}, speechtest.Voice(10), nil, false, "not known (long); its sender was told", "long", 0},
		{"too long, and does not say so", platform.File{Kind: "voice", Seconds: 1}, speechtest.Voice(501), nil, false, "not known (long)", "long", 0},
		{"a song too long", platform.File{Kind: "audio", Name: "a.mp3", Seconds: 11}, []byte("ID3"), nil, false, "what the audio says is not known (long)", "", 0},
		{"an odd kind of audio", platform.File{Kind: "audio", Name: "a.mid"}, []byte("x"), nil, false, "not known (format)", "", 0},
		{"the service fails", platform.File{Kind: "voice"}, speechtest.Voice(10), &speech.Error{Reason: speech.ReasonServer}, false, "not known (server)", "server", 1},
		{"silence", platform.File{Kind: "voice"}, speechtest.Voice(10), &speech.Error{Reason: speech.ReasonEmpty}, false, "not known (empty)", "empty", 1},
		{"nobody listens", platform.File{Kind: "voice"}, speechtest.Voice(10), nil, true, "nobody listens to voice messages here", "", 0},
		{"files are off", platform.File{Kind: "voice"}, nil, nil, false, "nobody listens to voice messages here", "", 0},
		{"nobody listens to songs", platform.File{Kind: "audio", Name: "a.mp3"}, []byte("ID3"), nil, true, "", "", 0},
		{"not there", platform.File{Kind: "voice"}, make([]byte, 20_001), nil, false, "not known (network)", "network", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			called := 0
			ear := speechtest.Transcriber(func(context.Context, speech.Audio) (string, error) {
				called++
				return "hello there", c.err
			})
			var from platform.Platform = recorded{data: c.data}
			if c.name == "not there" {
				from = counter{err: errors.New("reset")}
			}
			o := MediaOptions{Bytes: atMost(20_000), Listener: func() *speech.Listener { return nil }, Logger: slog.New(slog.DiscardHandler)}
			if c.data == nil {
				o.Bytes = atMost(0)
			}
			if !c.off {
				listener := speech.NewListener(ear, speech.ListenerOptions{MaxBytes: 10_000, MaxTime: 10 * time.Second, AtOnce: 1, Deadline: time.Minute})
				o.Listener = func() *speech.Listener { return listener }
			}
			m := fetching(t, from, o)
			c.file.FileID = "id"
			parts := m.Fetch(t.Context(), "telegram-chat-1", uimessage.Message{ID: "u", Role: uimessage.RoleUser, Parts: []uimessage.Part{c.file.Part()}})
			var texts []string
			var f platform.File
			for _, p := range parts {
				if text, ok := p.(uimessage.Text); ok {
					texts = append(texts, text.Text)
				}
				if got, ok := platform.FileOf(p); ok {
					f = got
				}
			}
			if called != c.called || f.NoTranscript != c.why || f.Unfetched() {
				t.Errorf("asked %d times, file %+v", called, f)
			}
			switch {
			case c.want == "" && len(texts) != 1, c.want != "" && (len(texts) != 2 || !strings.Contains(texts[1], c.want)):
				t.Errorf("texts %q", texts)
			case c.want == "hello there" && texts[1] != c.want:
				t.Errorf("the words were changed: %q", texts[1])
			}
		})
	}
}
