package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
)

// TestP11KillsWhileTranscribing kills the process while voice messages are with the
// service that turns them into text, or right after it answered. Every message is in
// the history once, in the order of its chat, voices with their words, and each has a
// fate; a voice is asked about again only for a kill.
func TestP11KillsWhileTranscribing(t *testing.T) {
	const chats = 3
	var sum tally
	inWorlds(t, worlds(2, 3), few(6, 100), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newVoiceWorld(t, path, chats, modeltest.NewFunc(acknowledge), random)
		for range kills {
			w.armed(t, time.Duration(random.Int64N(int64(8*time.Millisecond))), random.IntN(2) == 0, func() {
				for n := range 2 + random.IntN(4) {
					w.speak(1+random.Int64N(chats), n == 0 || random.IntN(2) == 0)
				}
			})
		}
		books := w.rest(t)
		for chat, said := range w.said {
			got := w.heard(t, chat)
			if diff := cmp.Diff(said, got); diff != "" {
				t.Errorf("chat %d: user turns of the history (-said +got):\n%s", chat, diff)
			}
			sum.add("lost", max(0, len(said)-len(got)))
			sum.add("doubled", max(0, len(got)-len(said)))
			sum.add("said", len(said))
			books[chat].balanced(t, "chat", len(said))
		}
		asked := len(w.service.Heard())
		if asked < w.voices || asked > w.voices+chats*w.kills {
			t.Errorf("%d voices were asked about %d times, with %d kills", w.voices, asked, w.kills)
		}
		if strange := w.service.Strange(); len(strange) > 0 {
			t.Errorf("the service was asked wrongly: %q", strange)
		}
		if faults := w.model.Faults(); len(faults) > 0 {
			t.Errorf("the model was asked wrongly: %v", faults)
		}
		sum.add("kills", w.kills)
		sum.add("again", asked-w.voices)
	})
	sum.report(t, "P11 voice")
}

// TestIO6KillsWhileSpeaking kills the process while its answers are spoken, and around the sends of the recordings.
// Every answer arrives. A kill causes at most one copy and at most one additional paid recording.
func TestIO6KillsWhileSpeaking(t *testing.T) {
	var sum tally
	inWorlds(t, worlds(2, 3), few(6, 100), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newVoiceWorld(t, path, 1, modeltest.NewFunc(sayAloud), random)
		for range kills {
			delay := time.Duration(random.Int64N(int64(5 * time.Millisecond)))
			say := func() { w.speak(1, false) }
			if at := random.IntN(6); at < 2 {
				w.armed(t, delay, at == 0, say)
			} else {
				voices := func(method string, _ map[string]any, _ []byte) bool { return method == "sendVoice" }
				w.killAt(t, trap{at: phase(random.IntN(int(phases))), wants: voices, delay: delay}, say)
			}
			w.rest(t) // a run that is killed three times is given up
		}
		b := w.book(t, "telegram-chat-1")
		b.balanced(t, "the chat", len(w.said[1]))
		sent := map[string]int{} // by the name of the recording
		for _, c := range w.api.Calls("sendVoice") {
			if c.Code == http.StatusOK {
				sent[c.Params.Text("file_name")]++
			}
		}
		copies := -len(sent)
		for _, n := range sent {
			copies += n
		}
		heard := map[string]bool{}
		for _, s := range w.service.Spoken() {
			for _, id := range token.FindAllString(s.Input, -1) {
				heard[id] = true
			}
		}
		for _, words := range w.said[1] {
			if !heard[token.FindString(words)] {
				t.Errorf("nobody hears the answer to %q", words)
				sum.add("lost", 1)
			}
		}
		if copies > w.kills {
			t.Errorf("%d copies after %d kills", copies, w.kills)
			sum.add("doubled", copies-w.kills)
		}
		if paid := len(w.service.Spoken()) - len(sent); paid > w.kills {
			t.Errorf("%d recordings more than were sent, after %d kills", paid, w.kills)
		}
		for _, s := range w.api.Sent(1) {
			if s.Text != "" {
				t.Errorf("the host wrote %q", s.Text)
			}
		}
		sum.add("kills", w.kills)
		sum.add("excused", copies)
		sum.add("acknowledged", len(w.said[1]))
	})
	sum.report(t, "IO6 voice")
}

// sayAloud answers like acknowledge, with a voice message.
func sayAloud(req model.Request) []model.Event {
	var words strings.Builder
	for _, e := range acknowledge(req) {
		words.WriteString(e.Delta)
	}
	input, err := json.Marshal(map[string]any{"text": words.String(), "final": true})
	if err != nil {
		return nil
	}
	call := modeltest.Call{ID: fmt.Sprintf("speak-%d", len(req.Messages)), Name: "tts_speak", Input: string(input)}
	return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
}

// voiceWorld is a world to kill with a service of speech.
type voiceWorld struct {
	*killWorld
	service *speechtest.Server
	voices  int

	mu   sync.Mutex
	trap func() // fires with the next recording that is answered
}

func newVoiceWorld(t *testing.T, path string, chats int, m model.Model, random *rand.Rand) *voiceWorld {
	t.Helper()
	w := &voiceWorld{killWorld: newKillWorld(t, path, chats, "direct", m, random)}
	spring := func() {
		w.mu.Lock()
		fire := w.trap
		w.trap = nil
		w.mu.Unlock()
		if fire != nil {
			fire()
		}
	}
	w.service = speechtest.NewServer(t, func(audio []byte) string {
		spring()
		_, words, _ := bytes.Cut(audio, []byte("words:"))
		return string(words)
	})
	w.service.OnSpeak(spring)
	api := map[string]any{"model": "audio-1", "baseUrl": w.service.URL, "apiKey": w.service.Key}
	w.configure(t, "speech", map[string]any{"transcribe": api, "speak": api})
	return w
}

// speak says something in a chat, aloud or in writing.
func (w *voiceWorld) speak(chat int64, aloud bool) {
	words := "please " + w.next(chat)
	if !aloud {
		w.say(chat, words)
		return
	}
	w.said[chat] = append(w.said[chat], words)
	w.voices++
	id := fmt.Sprintf("voice-%d", w.voices)
	f := w.api.AddFileAs(id, "voice/"+id+".oga", 1000, append(speechtest.Voice(20), "words:"+words...))
	f["duration"] = 1
	w.telegramWorld.say.Lock()
	defer w.telegramWorld.say.Unlock()
	w.api.Say(chat, chat, "", map[string]any{"text": nil, "voice": f})
}

// armed starts the host and returns when it died while the service had a recording, or
// a moment after that was answered.
func (w *voiceWorld) armed(t *testing.T, delay time.Duration, answered bool, meanwhile func()) {
	t.Helper()
	dead := make(chan struct{})
	w.mu.Lock()
	w.trap = func() {
		if answered {
			time.AfterFunc(delay, func() { w.kill(); close(dead) })
			return
		}
		w.kill()
		close(dead)
	}
	w.mu.Unlock()
	w.start(t)
	meanwhile()
	select {
	case <-dead:
	case <-time.After(30 * time.Second):
		t.Fatalf("kill %d: no recording came to the service", w.kills)
	}
	w.bury(t)
}

// heard returns the texts of a chat's user turns, in order, written or spoken. For a voice message without a transcript
// it returns the placeholder.
func (w *voiceWorld) heard(t *testing.T, chat int64) []string {
	t.Helper()
	var doc struct {
		Messages []struct {
			Role  string
			Parts []struct{ Text string }
		}
	}
	w.query(t, &doc, "chats", "export", "--json", "--", fmt.Sprintf("telegram-chat-%d", chat))
	var out []string
	for _, m := range doc.Messages {
		if m.Role != "user" {
			continue
		}
		var words []string
		for _, p := range m.Parts {
			if p.Text != "" && !strings.HasPrefix(p.Text, "[voice 1 s]") && !strings.HasPrefix(p.Text, "[the voice is kept as ") {
				words = append(words, p.Text)
			}
		}
		out = append(out, strings.Join(words, " | "))
	}
	return out
}
