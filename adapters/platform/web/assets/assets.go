// Package assets serves the files of a page, which are embedded packed: a map of names and texts.
package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/config/packed"
)

// Files are the files of a page. They are unpacked when the first one is asked for, and safe for concurrent use.
type Files struct {
	unpack func() map[string]file
}

type file struct {
	text, kind, etag string
}

// New makes files of what package packedtest has packed.
func New(data []byte) *Files {
	return &Files{sync.OnceValue(func() map[string]file {
		var texts map[string]string
		_ = packed.Read(data, &texts) // a test of the package that embeds them reads them
		files := make(map[string]file, len(texts))
		kinds := map[string]string{
			".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
			".html": "text/html; charset=utf-8", ".svg": "image/svg+xml",
		}
		for name, text := range texts {
			kind := kinds[path.Ext(name)]
			if kind == "" {
				kind = mime.TypeByExtension(path.Ext(name))
			}
			sum := sha256.Sum256([]byte(text))
			files[name] = file{text, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
		}
		return files
	})}
}

// Serve serves one file; browsers revalidate it each time and get 304 while it is unchanged.
func (a *Files) Serve(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := a.unpack()[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, time.Time{}, strings.NewReader(f.text))
}
