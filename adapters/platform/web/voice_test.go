package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A page gets the voice messages of its chat, only as audio, and in ranges if it asks for them.
func TestVoiceMessages(t *testing.T) {
	file := filepath.Join(t.TempDir(), "speech.opus")
	stdtest.Must(t, os.WriteFile(file, []byte("0123456789"), 0o600))
	asked := ""
	p, err := New(Options{Live: platformtest.NewLive(), Open: true, Voice: func(key messages.ChatKey, name string) (*os.File, error) {
		asked = string(key) + " " + name
		if name != "speech-1.opus" {
			return nil, fs.ErrNotExist
		}
		return os.Open(file)
	}})
	stdtest.Must(t, err)
	get := func(path, ranged string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:3000"+path, http.NoBody)
		if ranged != "" {
			r.Header.Set("Range", ranged)
		}
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, r)
		return w
	}
	resp := get("/api/chat/a%2Fb/voice/speech-1.opus", "")
	if resp.Code != http.StatusOK || resp.Body.String() != "0123456789" || asked != "web-chat-a/b speech-1.opus" {
		t.Errorf("%d %q, asked for %q", resp.Code, resp.Body, asked)
	}
	for name, want := range map[string]string{"Content-Type": "audio/ogg", "X-Content-Type-Options": "nosniff", "Content-Disposition": "inline", "Content-Security-Policy": policy} {
		if got := resp.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if resp := get("/api/chat/c/voice/speech-1.opus", "bytes=2-4"); resp.Code != http.StatusPartialContent || resp.Body.String() != "234" {
		t.Errorf("a piece: %d %q", resp.Code, resp.Body)
	}
	for _, path := range []string{"/api/chat/c/voice/notes.txt", "/api/chat/c/voice/..%2fspeech-1.opus", "/api/chat/c/voice/", "/api/chat/%00/voice/speech-1.opus"} {
		if resp := get(path, ""); resp.Code < 400 {
			t.Errorf("%s: %d %q", path, resp.Code, resp.Body)
		}
	}
	without, err := New(Options{Live: platformtest.NewLive(), Open: true})
	stdtest.Must(t, err)
	w := httptest.NewRecorder()
	without.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:3000/api/chat/c/voice/speech-1.opus", http.NoBody))
	if w.Code != http.StatusNotFound {
		t.Errorf("without voices: %d", w.Code)
	}
}
