package host

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// post sends a text to the web chat and returns the stream.
func post(t *testing.T, h *Host, id, text string) string {
	t.Helper()
	body := `{"id":"c1","trigger":"submit-message","message":{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}}`
	_, _, stream := request(t, http.MethodPost, h.webAddr+"/api/chat", h.login.token.Reveal(), body)
	return stream
}

// The host answers every command of the help on the web page, and none of them gets into the history.
func TestCommandsOnTheWeb(t *testing.T) {
	p := newProject(t)
	h := p.start(t, Options{}, map[string]string{"llm.provider": "demo"})
	for text, want := range map[string]string{
		"/help":          "/language en|zh|auto - chooses",
		"/status":        "chat: web-chat-c1",
		"/model":         "Only the operator changes it",
		"/why":           "I know of no message here",
		"/approvals":     "Nothing is waiting for your decision.",
		"/approve 1":     "Nothing is waiting for your decision.",
		"/deny 1":        "Nothing is waiting for your decision.",
		"/stop":          "I am not working on anything",
		"/compact":       "This chat is still short",
		"/new":           "This conversation is still empty",
		"/contexts":      "No conversation is archived yet",
		"/load x":        "No conversation is archived yet",
		"/start":         "Just write to me",
		"/language":      "The language of my own words here: auto",
		"/language fish": "The language of my own words here: auto",
	} {
		got := post(t, h, "m"+strings.ReplaceAll(text, " ", "-")[1:], text)
		if !strings.Contains(got, want) || !strings.HasSuffix(strings.TrimSpace(got), "data: [DONE]") {
			t.Errorf("%s: got %s, want %q", text, got, want)
		}
	}
	if code, _ := getPage(t, h, "/api/chat/c1"); code != http.StatusNotFound {
		t.Errorf("the history answers %d, want that there is none", code)
	}
}

// People's choices survive a restart.
func TestLanguageIsKept(t *testing.T) {
	p := newProject(t)
	flags := map[string]string{"llm.provider": "demo"}
	h := p.prepare(t, Options{}, flags)
	stdtest.Must(t, h.Start(t.Context()))
	if got := post(t, h, "m1", "/language ZH"); !strings.Contains(got, "使用中文") {
		t.Errorf("got %s", got)
	}
	stdtest.Must(t, h.Stop(t.Context()))
	h = p.start(t, Options{}, flags)
	if got := post(t, h, "m2", "/stop"); !strings.Contains(got, "我现在没有在处理消息") {
		t.Errorf("got %s", got)
	}
	if got := post(t, h, "m3", "/help"); !strings.Contains(got, "列出所有命令") {
		t.Errorf("got %s", got)
	}
	if got := post(t, h, "m4", "/language auto"); !strings.Contains(got, "chosen automatically") {
		t.Errorf("got %s", got)
	}
	dir, err := h.store.ChatDir("web-chat-c1")
	stdtest.Must(t, err)
	if found, _ := filepath.Glob(filepath.Join(dir, "preferences.json*")); len(found) > 0 {
		t.Errorf("%v is left, though nothing is set", found)
	}
}
