package telegramtest

import (
	"fmt"
	"image"
	"net/http"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

const (
	maxBotFile = 20 << 20 // the largest file that bots may download, in bytes
	maxUpload  = 50 << 20 // the largest that they may send
	maxPhoto   = 10 << 20 // the largest that they may send as a photo
	maxSides   = 10_000   // both sides of a photo together
	maxRatio   = 20       // of its sides
)

// botFile is a file that people sent.
type botFile struct {
	path    string
	content []byte
	size    int64 // as reported, which may be wrong
}

// LargestUpload makes the fake take no more than n bytes.
func (a *API) LargestUpload(n int) { a.mu.Do(func() { a.largest = n }) }

// checkUpload checks an uploaded file, or the id of a known file. It is called with the lock held.
func (a *API) checkUpload(kind string, p Params) *refused {
	content, uploaded := p.Text(kind), p.Text("file_name") != ""
	switch {
	case uploaded && len(content) > a.largest:
		return &refused{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
	case uploaded && content == "":
		return badRequest("file must be non-empty")
	case content == "":
		return badRequest("there is no %s in the request", kind)
	case !uploaded || kind != "photo":
		return nil
	case len(content) > maxPhoto:
		return badRequest("file of size %d bytes is too big for a photo; the maximum size is %d bytes", len(content), maxPhoto)
	}
	size, _, err := image.DecodeConfig(strings.NewReader(content))
	switch long, short := max(size.Width, size.Height), min(size.Width, size.Height); {
	case err != nil:
		return badRequest("IMAGE_PROCESS_FAILED")
	case long+short > maxSides || long > maxRatio*short:
		return badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// AddFile stores a file and returns its description in a message.
func (a *API) AddFile(id string, content []byte) map[string]any {
	return a.AddFileAs(id, fmt.Sprintf("documents/file_%d", len(id)), int64(len(content)), content)
}

// AddFileAs is [API.AddFile] with a path and a size for the server to report.
func (a *API) AddFileAs(id, path string, size int64, content []byte) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files == nil {
		a.files = map[string]*botFile{}
	}
	a.files[id] = &botFile{path: path, content: content, size: size}
	return map[string]any{"file_id": id, "file_unique_id": "u" + id, "file_size": size}
}

// getFile is called with the lock held.
func (a *API) getFile(p Params) (any, *refused) {
	f := a.files[p.Text("file_id")]
	switch {
	case f == nil:
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	case f.size > maxBotFile:
		return nil, badRequest("file is too big")
	}
	return map[string]any{"file_id": p.Text("file_id"), "file_unique_id": "u" + p.Text("file_id"), "file_size": f.size, "file_path": f.path}, nil
}

// serveFile serves a file. Faults of the method "download" make it fail.
func (a *API) serveFile(w http.ResponseWriter, r *http.Request) {
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/file/bot"), "/")
	c := &Call{Method: "download", Params: Params{"path": path}}
	var found *botFile
	a.mu.Lock()
	a.calls = append(a.calls, c)
	fault := a.fault(c.Method, c.Params)
	for _, f := range a.files {
		if f.path == path {
			found = f
		}
	}
	a.mu.Unlock()
	a.Signal()
	switch {
	case token != botToken:
		a.answer(w, c, nil, &refused{code: http.StatusUnauthorized, text: "Unauthorized"})
	case fault != nil && a.play(w, r, c, fault):
	case found == nil:
		a.answer(w, c, nil, &refused{code: http.StatusNotFound, text: "Not Found"})
	default:
		a.mu.Do(func() { c.Code = http.StatusOK })
		a.Signal()
		_, _ = w.Write(found.content[:len(found.content)/2]) // the caller may have left
		if fault != nil && fault.Kind == faketest.ResetAfter {
			_ = http.NewResponseController(w).Flush()
			faketest.Reset(w)
			return
		}
		_, _ = w.Write(found.content[len(found.content)/2:])
	}
}
