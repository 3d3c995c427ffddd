package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

//go:embed static
var staticFiles embed.FS

// page serves the embedded files.
type page struct {
	files map[string]file
}

type file struct {
	body []byte
	kind string
	etag string
}

func newPage() (*page, error) {
	p := &page{files: map[string]file{}}
	kinds := map[string]string{
		".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".html": "text/html; charset=utf-8", ".svg": "image/svg+xml",
	}
	list, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return nil, fmt.Errorf("web: embedded page: %w", err)
	}
	for _, e := range list {
		body, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("web: embedded page: %w", err)
		}
		kind := kinds[path.Ext(e.Name())]
		if kind == "" {
			kind = mime.TypeByExtension(path.Ext(e.Name()))
		}
		sum := sha256.Sum256(body)
		p.files[e.Name()] = file{body: body, kind: kind, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return p, nil
}

func (p *page) index(w http.ResponseWriter, r *http.Request)  { p.serve(w, r, "index.html") }
func (p *page) icon(w http.ResponseWriter, r *http.Request)   { p.serve(w, r, "icon.svg") }
func (p *page) static(w http.ResponseWriter, r *http.Request) { p.serve(w, r, r.PathValue("file")) }

// serve serves one file; browsers revalidate it each time and get 304 while it is unchanged.
func (p *page) serve(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := p.files[name]
	if !ok {
		noRoute(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(f.body))
}

const loginStyle = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;` +
	`min-height:90vh;margin:0}form{display:grid;gap:.75rem;width:min(20rem,90vw)}input,button{font:inherit;padding:.6rem .8rem;` +
	`border-radius:.6rem;border:1px solid #8886}button{background:#2557d6;color:#fff;border:0}[role=alert]{color:#c0392b}`

// loginScript submits the token of a login link, as a person would who pastes it into the form. It
// also handles a link that is opened while the form is shown.
const loginScript = `const go=()=>{const t=location.hash.slice(1);if(!t)return;history.replaceState(null,"",location.pathname);` +
	`const i=document.getElementById("token");i.value=t;i.form.submit()};go();addEventListener("hashchange",go)`

const loginPage = `<!doctype html><html lang="%s"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
	`<title>ShipMyAgent</title><style>%s</style><form method="post" action="login"><h1>ShipMyAgent</h1>%s` +
	`<label for="token">%s</label><input id="token" name="token" type="password" autocomplete="current-password" required autofocus>` +
	`<button>%s</button></form><script>%s</script></html>`

// login shows the form for the token. The form uses no other file, because all files require the
// token.
func (p *page) login(w http.ResponseWriter, r *http.Request, status int, fault string) {
	lang, label, button, wrong := "en", "Access token", "Log in", "This token is wrong."
	if respond.ReadsChinese(r) {
		lang, label, button, wrong = "zh", "访问令牌", "登录", "令牌不正确。"
	}
	alert := ""
	if fault != "" {
		alert = `<p role="alert">` + wrong + `</p>`
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy+"; style-src "+hashSource(loginStyle)+"; script-src "+hashSource(loginScript))
	h.Set("Content-Type", "text/html; charset=utf-8")
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="sma"`)
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, loginPage, lang, loginStyle, alert, label, button, loginScript)
}

// hashSource permits one inline text in a content security policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
