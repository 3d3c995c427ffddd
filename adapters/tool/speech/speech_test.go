package speech_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	tools "github.com/shipmyagent/shipmyagent/adapters/tool/speech"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// world is two chats with files, and both tools.
type world struct {
	t           *testing.T
	root        string
	log         bytes.Buffer
	heard       []speech.Audio
	spoken      []speech.Words
	ear         speechtest.Transcriber
	synthesizer speechtest.Synthesizer
	way         tools.Way
	egress      tooltest.Egress
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir(), way: tools.WayVoice}
	w.ear = func(context.Context, speech.Audio) (string, error) { return "the words", nil }
	w.synthesizer = func(context.Context, speech.Words) ([]byte, error) { return speechtest.Voice(125), nil }
	for _, chat := range []string{"a", "b"} {
		w.write("results/"+chat+"/voice.ogg", speechtest.Voice(10))
	}
	w.write("results/a/notes.txt", []byte("x"))
	w.write("results/a/.hidden.ogg", speechtest.Voice(10))
	stdtest.Must(t, os.Symlink("../b/voice.ogg", filepath.Join(w.root, "results", "a", "link.ogg")))
	return w
}

func (w *world) write(name string, data []byte) {
	w.t.Helper()
	file := filepath.Join(w.root, filepath.FromSlash(name))
	stdtest.Must(w.t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, data, 0o600)))
}

func (w *world) files() tool.ChatFiles {
	return tool.ChatFiles{Root: w.root, Folder: func(key messages.ChatKey) (string, error) { return "results/" + string(key), nil }}
}

func (w *world) tool(name string) tool.Tool {
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	if name == tools.TranscribeName {
		l := speech.NewListener(speechtest.Transcriber(func(ctx context.Context, a speech.Audio) (string, error) {
			w.heard = append(w.heard, a)
			return w.ear(ctx, a)
		}), speech.ListenerOptions{MaxBytes: 1 << 20, MaxTime: time.Minute, AtOnce: 1, Deadline: time.Minute})
		return tools.NewTranscribe(tools.TranscribeOptions{Listener: l, Files: w.files(), Logger: log})
	}
	s := speech.NewSpeaker(speechtest.Synthesizer(func(ctx context.Context, words speech.Words) ([]byte, error) {
		w.spoken = append(w.spoken, words)
		return w.synthesizer(ctx, words)
	}), speech.SpeakerOptions{MaxLetters: 40, AtOnce: 1, Deadline: time.Minute})
	return tools.NewSpeak(tools.SpeakOptions{
		Speaker: s, Files: w.files(), Logger: log, Way: func(messages.ChatKey) tools.Way { return w.way },
		Link: func(_ messages.ChatKey, name string) string {
			if w.way == tools.WayHere {
				return "/files/" + name
			}
			return ""
		},
	})
}

// invoke validates and runs one call as a run does.
func (w *world) invoke(name, input string, run tool.Run) (tool.Result, error) {
	w.t.Helper()
	tl := w.tool(name)
	set, err := tool.NewSet(tl)
	stdtest.Must(w.t, err)
	if err := set.Validate(name, json.RawMessage(input)); err != nil {
		return tool.Result{}, err
	}
	run.ChatKey, run.MessageID = "a", "m1"
	return tl.Invoke(w.t.Context(), tool.Call{ID: "call-1", Name: name, Input: json.RawMessage(input), Run: run, Egress: &w.egress})
}

func TestSpecs(t *testing.T) {
	w := newWorld(t)
	for name, readOnly := range map[string]bool{tools.TranscribeName: true, tools.SpeakName: false} {
		s := w.tool(name).Spec()
		if s.Name != name || len(s.Description) < 100 || s.ReadOnly != readOnly || !s.Repeatable || s.Asks || s.Title == "" {
			t.Errorf("spec = %+v", s)
		}
	}
}

func TestTranscribe(t *testing.T) {
	w := newWorld(t)
	r, err := w.invoke(tools.TranscribeName, `{"path":"results/a/voice.ogg","language":"zh"}`, tool.Run{})
	if err != nil || string(r.Output) != `{"text":"the words"}` {
		t.Errorf("got %s, %v", r.Output, err)
	}
	want := []speech.Audio{{Path: filepath.Join(w.root, "results", "a", "voice.ogg"), Language: "zh"}}
	stdtest.Diff(t, "heard", want, w.heard)
}

// A chat has recordings of its own transcribed, and nothing else leaves the host.
func TestPI6TranscribeTakesRecordingsOfItsOwnChat(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{
		"results/b/voice.ogg", "results/a/../b/voice.ogg", "results/a/link.ogg", "results/a/.hidden.ogg", "/etc/passwd", "../results/a/voice.ogg", "voice.ogg",
		"results/a", "results/a/", "results/ab/voice.ogg", "results/a/missing.ogg", "", "results/a/voice.ogg\\u0000", "results/a/notes.txt",
	} {
		r, err := w.invoke(tools.TranscribeName, `{"path":"`+name+`"}`, tool.Run{})
		if err == nil || len(w.heard) > 0 {
			t.Errorf("%q: %s, %v, heard %v", name, r.Output, err, w.heard)
		}
	}
	for _, language := range []string{"english", "-x", "../"} {
		if _, err := w.invoke(tools.TranscribeName, `{"path":"results/a/voice.ogg","language":"`+language+`"}`, tool.Run{}); !errors.Is(err, tool.ErrInput) {
			t.Errorf("language %q: %v", language, err)
		}
	}
}

func TestTranscribeFails(t *testing.T) {
	w := newWorld(t)
	w.ear = func(context.Context, speech.Audio) (string, error) {
		return "", &speech.Error{Reason: speech.ReasonAuth, Message: "for the log"}
	}
	_, err := w.invoke(tools.TranscribeName, `{"path":"results/a/voice.ogg"}`, tool.Run{})
	if err == nil || !strings.Contains(err.Error(), "refuses the key") || strings.Contains(err.Error(), "for the log") || !strings.Contains(w.log.String(), "for the log") {
		t.Errorf("got %v, logged %s", err, w.log.String())
	}
}

func output(t *testing.T, r tool.Result) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(r.Output, &out); err != nil {
		t.Fatalf("output %s: %v", r.Output, err)
	}
	return out
}

func TestSpeak(t *testing.T) {
	w := newWorld(t)
	r, err := w.invoke(tools.SpeakName, `{"text":" hello ","voice":"nova","replyTo":"7","final":true}`, tool.Run{Sole: true, LaneEmpty: true})
	if err != nil || !r.Final {
		t.Fatalf("%+v, %v", r, err)
	}
	sent := w.egress.Sent()
	if len(sent) != 1 || len(sent[0].Out.Files) != 1 {
		t.Fatalf("sent %+v", sent)
	}
	file := sent[0].Out.Files[0].Path
	want := tool.Outgoing{ReplyTo: "7", Files: []messages.FileRef{{Path: file, Kind: "voice", Spoken: "hello"}}}
	stdtest.Diff(t, "sent", want, sent[0].Out)
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(data, speechtest.Voice(125)) || filepath.Dir(file) != filepath.Join(w.root, "results", "a") || filepath.Ext(file) != ".opus" {
		t.Errorf("kept as %s: %v", file, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	out := output(t, r)
	wantOut := map[string]any{"delivered": true, "as": "voice", "audio": map[string]any{"path": "results/a/" + filepath.Base(file), "mediaType": "audio/ogg", "seconds": 2.5}}
	stdtest.Diff(t, "output", wantOut, out)
	stdtest.Diff(t, "spoken", []speech.Words{{Text: "hello", Voice: "nova"}}, w.spoken)
	// The same call after a crash speaks no second time and owes nothing more.
	again, err := w.invoke(tools.SpeakName, `{"text":" hello ","voice":"nova","replyTo":"7","final":true}`, tool.Run{Sole: true, LaneEmpty: true})
	if err != nil || len(w.spoken) != 1 || len(w.egress.Sent()) != 1 || !bytes.Equal(again.Output, r.Output) {
		t.Errorf("again: %s, %v, spoken %d times, sent %d", again.Output, err, len(w.spoken), len(w.egress.Sent()))
	}
}

// Where voice messages are not possible, people get a file, a page that plays it, or text.
func TestSpeakWhereVoicesDoNotGo(t *testing.T) {
	for _, c := range []struct {
		name  string
		way   tools.Way
		data  []byte
		as    string
		kind  string // of the file; empty: text
		link  string
		spoke int
	}{
		{"no voice messages", tools.WayFile, speechtest.Voice(5), "file", "audio", "", 1},
		{"no voice but a sound", tools.WayVoice, []byte("ID3 sound"), "file", "audio", "", 1},
		{"a page", tools.WayHere, speechtest.Voice(5), "here", "voice", "/files/speech-", 1},
		{"nothing", tools.WayText, nil, "text", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.way, w.synthesizer = c.way, func(context.Context, speech.Words) ([]byte, error) { return c.data, nil }
			r, err := w.invoke(tools.SpeakName, `{"text":"hello","final":true}`, tool.Run{})
			if err != nil || r.Final {
				t.Fatalf("%+v, %v", r, err)
			}
			out, sent := output(t, r), w.egress.Sent()[0].Out
			if out["as"] != c.as || len(w.spoken) != c.spoke {
				t.Errorf("output %s, spoken %d times", r.Output, len(w.spoken))
			}
			if c.kind == "" {
				if sent.Text != "hello" || len(sent.Files) > 0 || !strings.Contains(string(r.Output), "as text") {
					t.Errorf("sent %+v, output %s", sent, r.Output)
				}
				return
			}
			if sent.Files[0].Kind != c.kind || sent.Files[0].Spoken != "hello" || sent.Text != "" {
				t.Errorf("sent %+v", sent)
			}
			link, _ := out["audio"].(map[string]any)["url"].(string)
			if !strings.HasPrefix(link, c.link) || (c.link == "") != (link == "") {
				t.Errorf("link %q", link)
			}
		})
	}
}

func TestSpeakRefuses(t *testing.T) {
	for name, input := range map[string]string{
		"nothing": `{"text":" "}`, "too long": `{"text":"` + strings.Repeat("é", 41) + `"}`,
		"a path for a voice": `{"text":"x","voice":"../x"}`, "an option for a voice": `{"text":"x","voice":"a b"}`, "more": `{"text":"x","path":"y"}`,
	} {
		w := newWorld(t)
		r, err := w.invoke(tools.SpeakName, input, tool.Run{})
		if err == nil && !strings.Contains(string(r.Output), "Nothing was said") || len(w.egress.Sent())+len(w.spoken) > 0 {
			t.Errorf("%s: %s, %v", name, r.Output, err)
		}
	}
	w := newWorld(t)
	w.synthesizer = func(context.Context, speech.Words) ([]byte, error) { return []byte("<html>"), nil }
	before, err := os.ReadDir(filepath.Join(w.root, "results", "a"))
	stdtest.Must(t, err)
	_, err = w.invoke(tools.SpeakName, `{"text":"hello"}`, tool.Run{})
	after, readErr := os.ReadDir(filepath.Join(w.root, "results", "a"))
	if err == nil || !strings.Contains(err.Error(), "answer in writing") || len(w.egress.Sent()) > 0 || len(after) != len(before) || readErr != nil {
		t.Errorf("what is not a recording: %v, sent %v, %d files", err, w.egress.Sent(), len(after))
	}
	if strings.Contains(w.log.String(), "hello") {
		t.Error("the log holds what was to be said")
	}
}

func TestSpeakTellsWhatBecameOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		d     tool.Delivery
		says  string
		final bool
	}{
		"on its way": {tool.Delivery{}, "on its way", true},
		"parked":     {tool.Delivery{Parked: true}, "refused it", false},
		"limit":      {tool.Delivery{Skipped: "limit"}, "Nothing was sent", false},
		"duplicate":  {tool.Delivery{Skipped: "duplicate", Delivered: true}, "was sent before", true},
	} {
		w := newWorld(t)
		w.egress.Answer = func(tooltest.Sent) (tool.Delivery, error) { return c.d, nil }
		r, err := w.invoke(tools.SpeakName, `{"text":"hello","final":true}`, tool.Run{Sole: true, LaneEmpty: true})
		if err != nil || !strings.Contains(string(r.Output), c.says) || r.Final != c.final {
			t.Errorf("%s: %s, final %t, %v", name, r.Output, r.Final, err)
		}
	}
}
