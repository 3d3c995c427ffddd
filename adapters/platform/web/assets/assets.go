// Package assets serves the files that are embedded for pages.
package assets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"time"
)

// Files are embedded files. They are safe for concurrent use.
type Files struct{ byName map[string]file }

type file struct {
	body []byte
	kind string
	etag string
}

// New reads all files below the root of a file system.
func New(files fs.FS) (*Files, error) {
	a := &Files{byName: map[string]file{}}
	kinds := map[string]string{
		".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".html": "text/html; charset=utf-8", ".svg": "image/svg+xml",
	}
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		kind := kinds[path.Ext(name)]
		if kind == "" {
			kind = mime.TypeByExtension(path.Ext(name))
		}
		sum := sha256.Sum256(body)
		a.byName[name] = file{body: body, kind: kind, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("embedded files: %w", err)
	}
	return a, nil
}

// Serve serves one file; browsers revalidate it each time and get 304 while it is unchanged.
func (a *Files) Serve(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := a.byName[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.body))
}
