package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// tinyFiles accepts files of at most a few megabytes; these tests store none.
type tinyFiles struct {
	Files
	limit int64
}

func (f tinyFiles) Limit() int64 { return f.limit }

// A host that accepts files reads larger bodies, but accepts no longer texts; a text that is too
// long is refused before anything of it is stored.
func TestLongTextsAreNoFiles(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Files = tinyFiles{limit: 4 << 20} })
	s.live.Seed(key, "u1", "a1")
	long := strings.Repeat("x", 1<<20+1)
	half := long[:len(long)/2+1]
	for name, body := range map[string]string{
		"one text":  submit("c1", "m", long),
		"two texts": fmt.Sprintf(`{"id":"c1","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"%s"},{"type":"text","text":"%s"}]}]}`, half, half),
		"an edit":   submit("c1", "u1", long),
		"shown":     fmt.Sprintf(`{"id":"c1","trigger":"regenerate-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"%s"}]},{"id":"u2","role":"user","parts":[{"type":"text","text":"x"}]}]}`, long),
	} {
		for language, want := range map[string]string{"en": "This text is too long to send.", "zh": "文字太长，无法发送。"} {
			t.Run(name+"/"+language, func(t *testing.T) {
				res := s.do(t, "POST", "/api/chat", body, "Accept", "*/*", "Accept-Language", language)
				if got := readAll(t, res); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.HasPrefix(got, want) {
					t.Errorf("%d %q, want 413 %q", res.StatusCode, got, want)
				}
			})
		}
	}
}

// The refusal states the size limit of files, whatever its language, because the page shows it.
func TestLargeFilesAreRefusedWithTheLimit(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Files = tinyFiles{limit: 4 << 20} })
	for language, want := range map[string]string{"en": "too large: at most 4 MB", "zh": "文件太大，最多 4 MB。"} {
		res := s.do(t, "POST", "/api/chat/c1/files?name=big.bin", strings.Repeat("x", 4<<20+1), "Accept-Language", language)
		if got := readAll(t, res); res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(got, want) {
			t.Errorf("%s: %d %q, want 413 %q", language, res.StatusCode, got, want)
		}
	}
}
