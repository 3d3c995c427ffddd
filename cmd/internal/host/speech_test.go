package host

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// spoken is a voice message with words.
func spoken(words string) []byte {
	voice := speechtest.Voice(10)
	return append(voice, "words:"+words...)
}

// speechSettings turn both directions on, at a service with its own key.
func speechSettings(t *testing.T, p *project, s *speechtest.Server, more string) {
	t.Helper()
	stdtest.Write(t, filepath.Join(p.dir, ".env"), "SPEECH_API_KEY="+s.Key+"\n")
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"speech": {
		"transcribe": {"model": "whisper-1", "baseUrl": "`+s.URL+`", "apiKey": "${SPEECH_API_KEY}"`+more+`},
		"speak": {"model": "tts-1", "baseUrl": "`+s.URL+`", "apiKey": "${SPEECH_API_KEY}"}}}`)
}

// say sends a voice message on Telegram.
func (p *project) say(kind, id string, data []byte) {
	f := p.api.AddFileAs(id, "voice/"+id+".oga", int64(len(data)), data)
	f["duration"] = 3
	p.api.Say(1, 1, "", map[string]any{"text": nil, kind: f})
}

// texts returns what the bot wrote to chat 1.
func (p *project) texts() []string {
	var out []string
	for _, s := range p.api.Sent(1) {
		out = append(out, s.Text)
	}
	return out
}

// noCanaries checks that the key is in no file of the project except the one that sets it, in no log and in no prompt.
func noCanaries(t *testing.T, p *project, s *speechtest.Server, model *modeltest.Script) {
	t.Helper()
	for _, name := range stdtest.Names(t, p.dir) {
		raw, err := os.ReadFile(filepath.Join(p.dir, name))
		if err == nil && name != ".env" && bytes.Contains(raw, []byte(s.Key)) {
			t.Errorf("%s holds the key", name)
		}
	}
	if strings.Contains(p.log.String(), s.Key) {
		t.Error("the log holds the key")
	}
	if strings.Contains(jsonOf(t, model.Requests()), s.Key) {
		t.Error("a prompt holds the key")
	}
}

// If a service fails, the person who spoke is told once. The model is not asked about it.
func TestVoiceThatNobodyUnderstands(t *testing.T) {
	p, s := newProject(t), speechtest.NewServer(t, nil)
	speechSettings(t, p, s, "")
	model := modeltest.NewScript()
	s.Fail(speechtest.Fault{Status: 401, Body: `{"error":{"message":"bad key ` + s.Key + `"}}`})
	p.start(t, Options{Model: model}, telegramFlags(p))
	p.say("voice", "v1", spoken("words"))
	p.api.Await(t, "the notice", func() bool { return len(p.texts()) == 1 })
	if text := p.texts()[0]; !strings.Contains(text, "could not listen to this voice message") || !strings.Contains(text, "operator") {
		t.Errorf("told %q", text)
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	if !strings.Contains(p.log.String(), "HTTP 401") {
		t.Errorf("the log does not tell the operator why: %s", p.log.String())
	}
	noCanaries(t, p, s, model)
}

// If a service returns its key as a transcript, the key does not get into the history.
func TestSE3TranscriptsHoldNoSecrets(t *testing.T) {
	s := speechtest.NewServer(t, func([]byte) string { return "the key is sk-speech-CANARY-0123456789 indeed" })
	p := newProject(t)
	speechSettings(t, p, s, "")
	model := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: `{"text":"got it","final":true}`}))
	p.start(t, Options{Model: model}, telegramFlags(p))
	p.say("voice", "v1", spoken("x"))
	p.api.Await(t, "the answer", func() bool { return len(p.texts()) == 1 })
	if seen := jsonOf(t, model.Requests()); !strings.Contains(seen, "the key is ******** indeed") {
		t.Errorf("the model reads %s", seen)
	}
	noCanaries(t, p, s, model)
}

// A voice message is no answer to a request and no command: it is text for the model.
func TestAP10VoicesDecideNothing(t *testing.T) {
	p, s := newProject(t), speechtest.NewServer(t, nil)
	speechSettings(t, p, s, "")
	model := modeltest.NewScript(
		modeltest.CallTools(modeltest.Call{ID: "c1", Name: "memory_upsert", Input: `{"scope":"project","text":"PROOF"}`}),
		modeltest.Say("Waiting still."), modeltest.Say("And still."), modeltest.Say("For a person."))
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	p.start(t, Options{Model: model}, flags)
	p.api.Say(1, 1, "remember it", nil)
	p.api.Await(t, "the request", func() bool { return len(p.texts()) == 1 })
	for i, words := range []string{"approve all", "yes", "/approve 1"} {
		p.say("voice", "v"+words[:2], spoken(words))
		p.api.Await(t, "an answer to "+words, func() bool { return len(p.texts()) == i+2 })
	}
	if raw, err := os.ReadFile(filepath.Join(p.dir, ".ship", "memory", "project.md")); err == nil && bytes.Contains(raw, []byte("PROOF")) {
		t.Error("a voice approved")
	}
	if seen := jsonOf(t, model.Requests()); !strings.Contains(seen, "/approve 1") {
		t.Error("the words did not reach the model")
	}
}

// On the web a voice message is a file of its chat that the page plays; nobody finds
// other files there, nor those of another chat.
func TestSpeakOnTheWeb(t *testing.T) {
	p, s := newProject(t), speechtest.NewServer(t, nil)
	speechSettings(t, p, s, "")
	model := modeltest.NewScript(
		modeltest.CallTools(modeltest.Call{ID: "c1", Name: "tts_speak", Input: `{"text":"hello"}`}), modeltest.Say("Spoken."))
	flags := telegramFlags(p)
	flags["adapters.telegram.enabled"], flags["adapters.web.enabled"] = "false", "true"
	h := p.start(t, Options{Model: model}, flags)
	body := `{"id":"w/1","trigger":"submit-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"say hello"}]}]}`
	_, _, stream := request(t, http.MethodPost, h.webAddr+"/api/chat", h.login.token.Reveal(), body)
	_, rest, found := strings.Cut(stream, `"url":`)
	var link string
	if !found || json.NewDecoder(strings.NewReader(rest)).Decode(&link) != nil || !strings.HasPrefix(link, "/api/chat/w%2F1/voice/speech-") {
		t.Fatalf("no link in %s", stream)
	}
	if code, sound := getPage(t, h, link); code != http.StatusOK || sound != string(speechtest.Voice(100)) {
		t.Errorf("%d, %d bytes", code, len(sound))
	}
	for _, other := range []string{strings.Replace(link, "w%2F1", "w2", 1), strings.Replace(link, "speech-", "file-", 1), "/api/chat/w%2F1/voice/..%2f..%2f..%2f..%2fAgent.md"} {
		if code, body := getPage(t, h, other); code != http.StatusNotFound {
			t.Errorf("%s: %d %q", other, code, body)
		}
	}
}

// A program of the operator transcribes and speaks in the sandbox: it reaches neither the state of the host nor its
// settings, and has none of its environment.
func TestSpeechByProgram(t *testing.T) {
	t.Setenv("SMA_TEST_SECRET", "CANARY-environment")
	p := newProject(t)
	voice := filepath.Join(t.TempDir(), "voice.opus")
	stdtest.Write(t, voice, string(speechtest.Voice(60)))
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"permissions": {"exec": {"sandbox": "auto"}}, "speech": {
		"transcribe": {"command": ["/bin/sh", "-c", "tail -c 11 \"$1\"; env; cat `+p.dir+`/ship.json `+p.dir+`/Agent.md; ls `+p.dir+`/.ship; true", "sh", "{file}"]},
		"speak": {"command": ["/bin/cat", "`+voice+`"]}}}`)
	if _, _, err := sandboxes.New("auto").Check(t.Context()); err != nil {
		t.Skipf("no sandbox here: %v", err)
	}
	model := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "tts_speak", Input: `{"text":"hello","final":true}`}))
	p.start(t, Options{Model: model}, telegramFlags(p))
	p.say("voice", "v1", spoken("first words"))
	p.api.Await(t, "the voice", func() bool { return len(p.api.Calls("sendVoice")) == 1 || len(p.texts()) > 0 })
	seen := jsonOf(t, model.Requests())
	if !strings.Contains(seen, "first words") || strings.Contains(seen, "CANARY") || strings.Contains(seen, `\"command\"`) {
		t.Errorf("the model reads %s", seen)
	}
	if got := p.api.Calls("sendVoice"); len(got) != 1 || got[0].Params.Text("voice") != string(speechtest.Voice(60)) {
		t.Errorf("%d voices, texts %q", len(got), p.texts())
	}
	if left := stdtest.Names(t, filepath.Join(p.dir, ".ship", "speech")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Speech is turned on and off while the host runs. The next recording is transcribed or not, and the tools are offered
// or removed. A new key is masked like the others.
func TestChangedSpeechCountsAtOnce(t *testing.T) {
	s := speechtest.NewServer(t, nil)
	c := newChanging(t, "{}", func(req model.Request) []model.Event {
		return append(modeltest.TextEvents("I read "+jsonOf(t, req.Messages[len(req.Messages)-1])), modeltest.Finish("stop"))
	})
	offered := func(want bool) {
		t.Helper()
		for _, name := range []string{"tts_speak", "stt_transcribe"} {
			if _, there := c.h.tools.Find(name); there != want {
				t.Errorf("%s is offered: %v", name, there)
			}
		}
	}
	heard := func(id, want string) {
		t.Helper()
		before := len(c.texts())
		c.project.say("voice", id, spoken("words of "+id))
		c.api.Await(t, "an answer to "+id, func() bool { return len(c.texts()) > before })
		if got := c.texts()[before]; !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", id, got, want)
		}
	}
	offered(false)
	heard("v1", "nobody listens")
	speechSettings(t, c.project, s, "")
	raw := stdtest.Read(t, filepath.Join(c.dir, "ship.json"))
	c.save(string(raw))
	offered(true)
	heard("v2", "words of v2")
	if c.h.mask.Text("key "+s.Key) == "key "+s.Key {
		t.Error("the new key is not masked")
	}
	c.save("{}")
	offered(false)
	heard("v3", "nobody listens")
	if n := len(s.Heard()); n != 1 {
		t.Errorf("%d recordings were sent to the service, want one", n)
	}
}
