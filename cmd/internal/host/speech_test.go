package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
)

// spoken is a voice message with words.
func spoken(words string) []byte {
	voice := speechtest.Voice(10)
	return append(voice, "words:"+words...)
}

// speechSettings turn both directions on, at a service with its own key.
func speechSettings(t *testing.T, p *project, s *speechtest.Server, more string) {
	t.Helper()
	write(t, filepath.Join(p.dir, ".env"), "SPEECH_API_KEY="+s.Key+"\n")
	write(t, filepath.Join(p.dir, "ship.json"), `{"speech": {
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

// noCanaries wants the key in no file of the project but the one that it was set in,
// in no log and in no prompt.
func noCanaries(t *testing.T, p *project, s *speechtest.Server, model *modeltest.Script) {
	t.Helper()
	for _, name := range filesBelow(t, p.dir) {
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

// What somebody says becomes the text of their turn before the model sees it, in the
// place where it was said; the recording is kept, and goes to the service alone.
func TestVoiceOnTelegram(t *testing.T) {
	p, s := newProject(t), speechtest.NewServer(t, nil)
	speechSettings(t, p, s, "")
	answer := modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: `{"text":"got it","final":true}`})
	model := modeltest.NewScript()
	model.Otherwise = &answer
	release := s.Hold()
	p.start(t, Options{Model: model}, telegramFlags(p))
	p.say("voice", "v1", spoken("first words"))
	p.api.Say(1, 1, "second words", nil)
	p.say("video_note", "v2", spoken("third words"))
	faketest.Poll(t, "a recording on its way", func() bool { return len(s.Heard()) == 1 })
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times before the words were there", n)
	}
	release()
	p.api.Await(t, "the answer", func() bool { return len(p.texts()) >= 1 })
	faketest.Poll(t, "the last words", func() bool { return strings.Contains(jsonOf(t, model.Requests()), "third words") })
	requests := model.Requests()
	seen := jsonOf(t, requests[len(requests)-1].Messages)
	at := -1
	for _, want := range []string{"[voice 3 s]", "first words", "second words", "[video note 3 s]", "third words"} {
		i := strings.Index(seen, want)
		if i <= at {
			t.Errorf("%q is at %d, not behind what was said before it, in %s", want, i, seen)
		}
		at = i
	}
	if strings.Contains(seen, "OggS") || strings.Contains(seen, "not known") {
		t.Errorf("the model reads %s", seen)
	}
	for _, h := range s.Heard() {
		if h.Model != "whisper-1" || !strings.HasPrefix(h.File, "audio.") || h.Language != "" {
			t.Errorf("the service was asked for %+v", h)
		}
	}
	if n := len(s.Heard()); n != 2 || len(s.Strange()) > 0 {
		t.Errorf("%d calls, strange: %q", n, s.Strange())
	}
	noCanaries(t, p, s, model)
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

// Without a model or a command for it nothing is sent anywhere, the tools are not
// there, and the model knows that it does not know.
func TestVoiceIsOffByDefault(t *testing.T) {
	p := newProject(t)
	model := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: `{"text":"please write","final":true}`}))
	p.start(t, Options{Model: model}, telegramFlags(p))
	p.say("voice", "v1", spoken("words"))
	p.api.Await(t, "the answer", func() bool { return len(p.texts()) == 1 })
	req := model.Requests()[0]
	if seen := jsonOf(t, req.Messages); !strings.Contains(seen, "nobody listens to voice messages here") || strings.Contains(seen, "words:") {
		t.Errorf("the model reads %s", seen)
	}
	for _, spec := range req.Tools {
		if spec.Name == "stt_transcribe" || spec.Name == "tts_speak" {
			t.Errorf("%s is offered", spec.Name)
		}
	}
}

// The model answers with a voice message, once, and it is no text besides.
func TestSpeakOnTelegram(t *testing.T) {
	for _, egress := range []string{"tool", "direct"} {
		t.Run(egress, func(t *testing.T) {
			p, s := newProject(t), speechtest.NewServer(t, nil)
			speechSettings(t, p, s, "")
			model := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "tts_speak", Input: `{"text":"hello to you","voice":"nova","final":true}`}))
			flags := telegramFlags(p)
			flags["adapters.telegram.egress"] = egress
			p.start(t, Options{Model: model}, flags)
			p.api.Say(1, 1, "say hello", nil)
			p.api.Await(t, "the voice", func() bool { return len(p.api.Calls("sendVoice")) == 1 })
			faketest.Poll(t, "the end of the run", func() bool {
				return len(model.Requests()) == 1 && strings.Contains(p.log.String(), "sendVoice") || len(p.api.Sent(1)) == 1
			})
			call := p.api.Calls("sendVoice")[0].Params
			if call.Text("voice") != string(speechtest.Voice(100)) || call.Text("duration") != "2" || !strings.HasSuffix(call.Text("file_name"), ".ogg") {
				t.Errorf("sent %q, %q s", call.Text("file_name"), call.Text("duration"))
			}
			if got := s.Spoken(); len(got) != 1 || got[0] != (speechtest.Spoken{Model: "tts-1", Voice: "nova", Format: "opus", Input: "hello to you"}) {
				t.Errorf("spoken %+v", got)
			}
			noCanaries(t, p, s, model)
		})
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
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.webAddr+"/api/chat", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.login.token.Reveal())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(stream), `"url":`)
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

// Feishu's voice messages are heard, and answered with one of its own.
func TestVoiceOnFeishu(t *testing.T) {
	api := feishutest.NewAPI(t)
	api.AddChat("oc_1", "p2p")
	p, s := newProject(t), speechtest.NewServer(t, nil)
	speechSettings(t, p, s, `, "language": "zh"`)
	write(t, filepath.Join(p.dir, ".env"), "SPEECH_API_KEY="+s.Key+"\nSMA_ADAPTERS_FEISHU_APP_SECRET="+api.Secret()+"\nSMA_ADAPTERS_FEISHU_ENCRYPT_KEY="+api.EncryptKey()+"\n")
	model := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "tts_speak", Input: `{"text":"你好","final":true}`}))
	flags := telegramFlags(p)
	maps.Copy(flags, feishuFlags(api, "connection"))
	p.start(t, Options{Model: model}, flags)
	api.SayFile("oc_1", "ou_1", "audio", "", spoken("你好吗"), map[string]any{"duration": 3000})
	api.Await(t, "the voice", func() bool { return len(api.Sent("oc_1")) == 1 })
	if sent := api.Sent("oc_1")[0]; sent.Kind != "audio" {
		t.Errorf("sent %+v", sent)
	}
	if seen := jsonOf(t, model.Requests()[0].Messages); !strings.Contains(seen, "你好吗") {
		t.Errorf("the model reads %s", seen)
	}
	if got := s.Heard(); len(got) != 1 || got[0].Language != "zh" || got[0].File != "audio.ogg" {
		t.Errorf("heard %+v", got)
	}
}

// A program of the operator's hears and speaks, contained: it reaches neither the
// state of the host nor its settings, and has none of its environment.
func TestSpeechByProgram(t *testing.T) {
	t.Setenv("SMA_TEST_SECRET", "CANARY-environment")
	p := newProject(t)
	voice := filepath.Join(t.TempDir(), "voice.opus")
	write(t, voice, string(speechtest.Voice(60)))
	write(t, filepath.Join(p.dir, "ship.json"), `{"permissions": {"exec": {"sandbox": "auto"}}, "speech": {
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
	if left := filesBelow(t, filepath.Join(p.dir, ".ship", "speech")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Speech is turned on and off while the host runs: recordings are heard from the next one on, and the tools come and
// go. A key that is new is masked like the others.
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
	raw, err := os.ReadFile(filepath.Join(c.dir, "ship.json"))
	if err != nil {
		t.Fatal(err)
	}
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
