package host

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// fetch requests an address of the page with a token.
func fetch(t *testing.T, h *Host, path, token string) (int, http.Header, string) {
	t.Helper()
	return request(t, http.MethodGet, h.webAddr+path, token, "")
}

func sendFileCall(id, path string) modeltest.Step {
	input, _ := json.Marshal(map[string]string{"path": path}) // a map of strings encodes
	return modeltest.CallTools(modeltest.Call{ID: id, Name: "chat_send_file", Input: string(input)})
}

// On the page, with default settings, an agent gives people a file. They are asked once for its bytes, and get a link
// with a name and a size, which the stream and the history have. The link leads to the approved bytes, whatever happens
// to the file, for everybody who may read the chat.
func TestFilesReachPeopleOnThePage(t *testing.T) {
	p := newProject(t)
	name := `out/报告 "1".html`
	stdtest.Write(t, filepath.Join(p.dir, filepath.FromSlash(name)), "<script>alert(1)</script>")
	stdtest.Write(t, filepath.Join(p.dir, ".env"), "KEY=canary-of-the-key")
	script := modeltest.NewScript(
		sendFileCall("f1", name), modeltest.Say("There it is."),
		sendFileCall("f2", name), modeltest.Say("Once more."),
		sendFileCall("f3", ".env"), modeltest.Say("Then not."))
	h := p.start(t, Options{Model: script}, map[string]string{"llm.model": "fake"})
	if asked := post(t, h, "m1", "give me the report"); !strings.Contains(asked, "tool-approval-request") || strings.Contains(asked, "data-sent-file") {
		t.Fatalf("nobody was asked: %s", asked)
	}
	post(t, h, "m2", "/approve 1")
	_, _, _ = fetch(t, h, "/api/chat/c1/stream", h.login.token.Reveal()) // until the run has ended
	again := post(t, h, "m3", "again")
	if strings.Contains(again, "approval-request") {
		t.Errorf("the same bytes asked again: %s", again)
	}
	link := regexp.MustCompile(`{"type":"data-sent-file","id":"f2-file-1","data":{"name":"报告 _1_.html","mediaType":"text/html","bytes":25,"url":"(http[^"]+)"}}`).FindStringSubmatch(again)
	if link == nil {
		t.Fatalf("the stream has no file: %s", again)
	}
	if history := pageOf(t, h); strings.Count(history, `"type":"data-sent-file"`) != 2 || !strings.Contains(history, link[1]) {
		t.Errorf("the history has no two files: %s", history)
	}
	stdtest.Write(t, filepath.Join(p.dir, filepath.FromSlash(name)), "changed meanwhile")
	path := strings.TrimPrefix(link[1], h.webAddr)
	token := h.login.token.Reveal()
	code, header, body := fetch(t, h, path, token)
	if code != 200 || body != "<script>alert(1)</script>" {
		t.Errorf("%d %q", code, body)
	}
	for key, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
		"Content-Disposition": "attachment; filename*=utf-8''" + url.PathEscape("报告 _1_.html"), "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := header.Get(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	folder := path[:strings.LastIndex(path, "/")]
	for what, try := range map[string]struct {
		path, token string
		want        int
	}{
		"without a token":     {path, "", http.StatusUnauthorized},
		"with another token":  {path, token + "x", http.StatusUnauthorized},
		"of another chat":     {strings.Replace(path, "/c1/", "/c2/", 1), token, http.StatusNotFound},
		"another name":        {folder + "/other.html", token, http.StatusNotFound},
		"the folder":          {folder, token, http.StatusNotFound},
		"the folder above":    {folder + "/..%2f..%2f..%2faccess.json", token, http.StatusNotFound},
		"an encoded dot-dot":  {folder + "/%2e%2e", token, http.StatusNotFound},
		"a folder of a chat":  {"/api/chat/c1/files/..%2fcli-chat-main/x", token, http.StatusNotFound},
		"a file of the chat":  {"/api/chat/c1/files/results.txt", token, http.StatusNotFound},
		"a file being copied": {"/api/chat/c1/files/.part-1", token, http.StatusNotFound},
	} {
		if code, _, body := fetch(t, h, try.path, try.token); code != try.want || strings.Contains(body, "alert(1)") {
			t.Errorf("%s: %d %s, want %d", what, code, body, try.want)
		}
	}
	if kept := post(t, h, "m4", "the keys"); !strings.Contains(kept, "it may hold keys or passwords") || strings.Contains(kept, "sent-file") {
		t.Errorf("keys: %s", kept)
	}
	for _, name := range stdtest.Names(t, filepath.Join(p.dir, ".ship", "files")) {
		if data, err := os.ReadFile(filepath.Join(p.dir, ".ship", "files", name)); err == nil && strings.Contains(string(data), "canary-of-the-key") {
			t.Errorf("%s was copied", name)
		}
	}
	if faults := script.Faults(); len(faults) > 0 {
		t.Errorf("faults: %v", faults)
	}
}

func pageOf(t *testing.T, h *Host) string {
	t.Helper()
	_, body := getPage(t, h, "/api/chat/c1")
	return body
}
