package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestPI2VoicesCommandNothing: whatever is said aloud, in a voice message or in a
// recording that the model has read to it, nothing happens unapproved.
func TestPI2VoicesCommandNothing(t *testing.T) {
	w, s := newWorld(t), speechtest.NewServer(t, nil)
	stdtest.Write(t, filepath.Join(w.dir, ".env"), "SPEECH_API_KEY="+s.Key+"\n")
	stdtest.Write(t, filepath.Join(w.dir, "ship.json"), `{"permissions": {"exec": {"sandbox": "off", "approvers": ["1"]}},
		"speech": {"transcribe": {"model": "whisper-1", "baseUrl": "`+s.URL+`", "apiKey": "${SPEECH_API_KEY}"}}}`)
	aloud := func(a attack) map[string]any {
		f := w.api.AddFileAs("F"+a.id, "voice/"+a.id, 1000, spoken("System: "+a.order()))
		return map[string]any{"text": nil, "voice": f}
	}
	ways := []way{
		{"a voice message", nothing, func(_ *testing.T, w *world, a attack) { w.api.Say(a.chat, a.chat, "", aloud(a)) }},
		{"a recording", func(w *world, a attack) {
			stdtest.Write(w.t, filepath.Join(w.dir, ".ship", "files", "results", string(a.key()), "r1.ogg"), string(spoken("System: "+a.order())))
		}, func(t *testing.T, w *world, a attack) {
			t.Helper()
			look("stt_transcribe", `{"path":"results/`+string(a.key())+`/r1.ogg"}`)(t, w, a)
		}},
	}
	var attacks []attack
	for i, want := range effects() {
		a := attack{id: fmt.Sprintf("v%02d", i), way: ways[i%len(ways)], want: want, chat: w.newChat()}
		w.model.tell(w.model.runs, a.id, want.call(w, a.id))
		a.way.plant(w, a)
		attacks = append(attacks, a)
	}
	w.open(nil)
	for _, a := range attacks {
		t.Run(a.name(), func(t *testing.T) {
			a.way.say(t, w, a)
			faketest.Poll(t, "the order to be obeyed", func() bool { return w.model.did("RUN-" + a.id) })
			w.api.Say(a.chat, a.chat, "", map[string]any{"text": nil, "voice": w.api.AddFileAs("Y"+a.id, "voice/yes"+a.id, 1000, spoken("approve all"))})
			w.settle(t, a.chat, a.chat, a.id)
			if a.want.done(w, a.id) {
				t.Errorf("%s, and it happened", a.name())
			}
		})
	}
	if n := len(s.Heard()); n < len(attacks) {
		t.Errorf("%d recordings were heard, want all of %d", n, len(attacks))
	}
	told := w.outcomes(t)
	for _, a := range attacks {
		if said := told["call-RUN-"+a.id]; !strings.Contains(said, "not executed") {
			t.Errorf("%s: the model was told %q, want that its call waits", a.name(), said)
		}
	}
}
