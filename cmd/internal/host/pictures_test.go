package host

import (
	"bytes"
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// served is a host on Telegram that asks a model over HTTP, and that model's server.
func served(t *testing.T, script *modeltest.Script, flags map[string]string, front func(http.Handler) http.Handler) (*project, *modeltest.Server) {
	t.Helper()
	server := modeltest.NewServer(script, modeltest.ServerOptions{})
	t.Cleanup(server.Close)
	target, err := url.Parse(strings.TrimSuffix(server.URL, "/v1"))
	stdtest.Must(t, err)
	proxy := http.Handler(httputil.NewSingleHostReverseProxy(target))
	if front != nil {
		proxy = front(proxy)
	}
	outer := httptest.NewServer(proxy)
	t.Cleanup(outer.Close)
	p := newProject(t)
	all := telegramFlags(p)
	all["adapters.telegram.egress"], all["llm.provider"], all["llm.baseUrl"] = "direct", "custom", outer.URL+"/v1"
	maps.Copy(all, flags)
	if settings, ok := all["ship.json"]; ok {
		delete(all, "ship.json")
		stdtest.Write(t, filepath.Join(p.dir, "ship.json"), settings)
	}
	p.start(t, Options{}, all)
	return p, server
}

// photo lets Ann send an image as a photo.
func (p *project) photo(id, name, caption string) {
	content := contentOf(name)
	file := p.api.AddFileAs(id, "photos/"+id, int64(len(content)), content)
	p.api.Say(1, 1, "", map[string]any{"text": nil, "caption": caption, "photo": []any{file}})
}

var dataURL = regexp.MustCompile(`data:image/jpeg;base64,([A-Za-z0-9+/=]+)`)

// A photo is in every request of its chat with the same bytes, so that a request begins with the previous one. Reading
// the stored file shows it again, after the result.
func TestPicturesKeepThePrefix(t *testing.T) {
	script := modeltest.NewScript(modeltest.Say("A cat."))
	p, server := served(t, script, nil, nil)
	p.photo("p1", "cat-2000x1000.jpg", "what is this?")
	p.api.Await(t, "the first answer", func() bool { return len(p.api.Sent(1)) == 1 })
	kept := ""
	for _, name := range stdtest.Names(t, filepath.Join(p.dir, ".ship", "files")) {
		if strings.Contains(name, "/file-") {
			kept = name
		}
	}
	script.Add(modeltest.Say("It is black."), modeltest.CallTools(modeltest.Call{ID: "c1", Name: "read_file", Input: `{"path":"` + kept + `"}`}), modeltest.Say("Seen again."))
	p.api.Say(1, 1, "which colour?", nil)
	p.api.Await(t, "the second answer", func() bool { return len(p.api.Sent(1)) == 2 })
	p.api.Say(1, 1, "look again", nil)
	p.api.Await(t, "the third answer", func() bool { return len(p.api.Sent(1)) == 3 })
	bodies := server.Bodies()
	if len(bodies) != 4 || len(server.Faults()) > 0 {
		t.Fatalf("%d requests, faults %v", len(bodies), server.Faults())
	}
	for i := 1; i < len(bodies); i++ {
		if !bytes.HasPrefix(bodies[i], bytes.TrimSuffix(bodies[i-1], []byte("]}"))) {
			t.Errorf("request %d does not begin with the one before", i+1)
		}
	}
	shown := dataURL.FindAllSubmatch(bodies[3], -1)
	if len(shown) != 2 {
		t.Fatalf("the last request shows %d pictures, want the photo and what was read", len(shown))
	}
	raw, err := base64.StdEncoding.DecodeString(string(shown[0][1]))
	if err != nil || !bytes.HasPrefix(raw, []byte("\xff\xd8\xff")) {
		t.Errorf("the picture is no JPEG: %v", err)
	}
	if !bytes.Contains(bodies[3], []byte("[files that the results above refer to")) {
		t.Error("nothing says what the picture after the result is")
	}
	for _, name := range stdtest.Names(t, filepath.Join(p.dir, ".ship", "chat")) {
		if data, err := os.ReadFile(filepath.Join(p.dir, ".ship", "chat", name)); err == nil && bytes.Contains(data, shown[0][1][:200]) {
			t.Errorf("%s holds the picture itself", name)
		}
	}
}

// A provider that refuses pictures gets the request once more without them. This is remembered and logged once, and the
// model is told what it cannot see. Everybody gets an answer.
func TestPicturesThatTheModelRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		status      int
		flags       map[string]string
		refused     int64
	}{
		{"said plainly", "This model does not support image input.", 400, nil, 1},
		{"by a parser", "messages[1]: unknown variant `image_url`, expected `text`", 422, nil, 1},
		{"by a router", "No endpoints found that support image input", 404, nil, 1},
		{"by a local server", "image input is not supported - hint: provide the mmproj", 500, nil, 1},
		{"in Chinese", "该模型不支持图片输入", 400, nil, 1},
		{"for no clear reason", "invalid request", 400, nil, 2}, // each photo for itself
		{"known by the settings", "", 400, map[string]string{"ship.json": `{"llm":{"models":{"fake":{"images":false}}}}`}, 0},
		{"known by its name", "", 400, map[string]string{"llm.model": "deepseek-chat"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var refused atomic.Int64
			script := modeltest.NewScript(modeltest.Say("I cannot see it."), modeltest.Say("Nor this."))
			p, server := served(t, script, tt.flags, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					if bytes.Contains(body, []byte(`"image_url"`)) {
						refused.Add(1)
						w.WriteHeader(tt.status)
						_, _ = io.WriteString(w, `{"error":{"message":"`+tt.words+`"}}`)
						return
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					next.ServeHTTP(w, r)
				})
			})
			p.photo("p1", "cat-64x48.jpg", "what is this?")
			p.api.Await(t, "the first answer", func() bool { return len(p.api.Sent(1)) == 1 })
			p.photo("p2", "dog-32x24.jpg", "and this?")
			p.api.Await(t, "the second answer", func() bool { return len(p.api.Sent(1)) == 2 })
			bodies := server.Bodies()
			if len(bodies) != 2 || refused.Load() != tt.refused {
				t.Fatalf("%d requests were answered, %d refused, want 2 and %d", len(bodies), refused.Load(), tt.refused)
			}
			for _, want := range []string{"[picture 64×48, this model cannot see pictures; path results/", "[picture 32×24, this model cannot see pictures; path results/"} {
				if !bytes.Contains(bodies[1], []byte(want)) {
					t.Errorf("the model does not read %q", want)
				}
			}
			if !bytes.HasPrefix(bodies[1], bytes.TrimSuffix(bodies[0], []byte("]}"))) {
				t.Error("the second request does not begin with the first")
			}
			if n := strings.Count(p.log.String(), "under llm.models to leave out this first try"); tt.refused == 1 && n != 1 {
				t.Errorf("logged %d times", n)
			}
		})
	}
}

// An image of many pixels in few bytes is refused by its header, and the chat continues.
func TestPictureBombs(t *testing.T) {
	script := modeltest.NewScript(modeltest.Say("Too large for me."))
	p, server := served(t, script, nil, nil)
	bomb := append([]byte(nil), contentOf("x-8x8.png")...)
	copy(bomb[16:], []byte{0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0}) // 100,000 by 100,000
	fixPNG(bomb)
	file := p.api.AddFileAs("bomb", "photos/bomb", int64(len(bomb)), bomb)
	p.api.Say(1, 1, "", map[string]any{"text": nil, "caption": "look", "photo": []any{file}})
	p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(1)) == 1 })
	if body := server.Bodies()[0]; !bytes.Contains(body, []byte("[the photo is not shown: it is too large for that]")) || dataURL.Match(body) {
		t.Errorf("the model reads %s", body[max(0, len(body)-500):])
	}
}
