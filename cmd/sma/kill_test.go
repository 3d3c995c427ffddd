package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func writeProject(t *testing.T, dir string, settings map[string]any) {
	t.Helper()
	raw, err := json.Marshal(settings)
	stdtest.Must(t, err)
	for name, text := range map[string]string{"ship.json": string(raw), "Agent.md": "# Test\n\nBe kind."} {
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func fakeModel(m *modeltest.Server, name string, platform map[string]any) map[string]any {
	return map[string]any{
		"llm":      map[string]any{"provider": "custom", "model": "fake", "baseUrl": m.URL, "apiKey": "sk-test"},
		"adapters": map[string]any{name: platform, "web": map[string]any{"enabled": false}},
		"metrics":  map[string]any{"listen": "off"},
		// The tests count what the model is asked, and read all turns in the history: nothing else is asked for.
		"context": map[string]any{
			"memory": map[string]any{"autoExtractEnabled": false}, "history": map[string]any{"maxInputTokensApprox": 1000000},
		},
	}
}

// telegramWorld is a project with a fake Telegram and a fake model.
type telegramWorld struct {
	dir   string
	api   *telegramtest.API
	model *modeltest.Server
	say   sync.Mutex // updates get their ids one after the other
}

// write makes somebody write into their chat.
func (w *telegramWorld) write(chat int64, text string) {
	w.say.Lock()
	defer w.say.Unlock()
	w.api.Say(chat, chat, text, nil)
}

func newTelegramWorld(t *testing.T, chats int, egress string, m model.Model) *telegramWorld {
	t.Helper()
	w := &telegramWorld{dir: t.TempDir(), api: telegramtest.NewAPI(t), model: modeltest.NewServer(m, modeltest.ServerOptions{Key: "sk-test"})}
	t.Cleanup(w.model.Close)
	for chat := range int64(chats) {
		w.api.AddChat(telegramtest.Chat{ID: chat + 1, Type: "private"})
	}
	writeProject(t, w.dir, fakeModel(w.model, "telegram", map[string]any{
		"botToken": w.api.Token(), "baseUrl": w.api.URL(), "access": "open", "rateLimit": "off", "egress": egress, "drafts": "off",
	}))
	return w
}

// configure sets a part of the settings, before a host starts.
func (w *telegramWorld) configure(t *testing.T, block string, value any) {
	t.Helper()
	raw := stdtest.Read(t, filepath.Join(w.dir, "ship.json"))
	var settings map[string]any
	stdtest.Must(t, json.Unmarshal(raw, &settings))
	settings[block] = value
	writeProject(t, w.dir, settings)
}

var token = regexp.MustCompile(`m-\d+-\d+`)

// wanted is the token of the newest message of a person, and what tools answered since.
func wanted(req model.Request) (want, answers string) {
	for _, m := range req.Messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return "", ""
		}
		switch m.Role {
		case modelmessage.RoleUser:
			if found := token.FindAllString(string(raw), -1); len(found) > 0 {
				want, answers = found[len(found)-1], ""
			}
		case modelmessage.RoleTool:
			answers += string(raw)
		case modelmessage.RoleAssistant, modelmessage.RoleSystem:
		}
	}
	return want, answers
}

// acknowledge answers with the tokens of all user turns since the last answer.
func acknowledge(req model.Request) []model.Event {
	var found []string
	for _, m := range req.Messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil
		}
		switch m.Role {
		case modelmessage.RoleAssistant:
			found = nil
		case modelmessage.RoleUser:
			found = append(found, token.FindAllString(string(raw), -1)...)
		case modelmessage.RoleSystem, modelmessage.RoleTool:
		}
	}
	return append(modeltest.TextEvents("got ", strings.Join(found, " "), "."), modeltest.Finish("stop"))
}

// copies counts how often each token was answered in a chat.
func (w *telegramWorld) copies(chat int64) map[string]int {
	out := map[string]int{}
	for _, s := range w.api.Sent(chat) {
		for _, found := range token.FindAllString(s.Text, -1) {
			out[found]++
		}
	}
	return out
}

// answered counts the messages that were answered.
func (w *telegramWorld) answered(chats int) int {
	n := 0
	for chat := int64(1); chat <= int64(chats); chat++ {
		n += len(w.copies(chat))
	}
	return n
}

// A second signal ends the process without waiting for the run.
func TestSecondSignalForces(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	script := modeltest.NewScript(modeltest.Held(hold, modeltest.Say("never")))
	w := newTelegramWorld(t, 1, "direct", script)
	heard := &listener{word: "stopping", heard: make(chan struct{})}
	v := newVictim(t, w.dir, killable(t))
	v.log = io.MultiWriter(heard, v.log)
	v.start(t)
	w.write(1, "go on")
	stdtest.Must(t, script.WaitAsked(t.Context(), 1))
	for _, wait := range []<-chan struct{}{nil, heard.heard} { // two signals at once may count as one
		if wait != nil {
			<-wait
		}
		stdtest.Must(t, v.cmd.Process.Signal(os.Interrupt))
	}
	v.gone(t, 130) // 0 is the end of a run that was waited for
}

// listener waits for a word in a log.
type listener struct {
	word  string
	once  sync.Once
	heard chan struct{}
}

func (l *listener) Write(line []byte) (int, error) {
	if strings.Contains(string(line), l.word) {
		l.once.Do(func() { close(l.heard) })
	}
	return len(line), nil
}
