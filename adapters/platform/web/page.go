package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// The files of the folder static; "go test ./adapters/platform/web -run TestPacked -update" packs them.
//
//go:embed static.json.gz
var staticFiles []byte

const loginStyle = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;display:grid;place-items:center;` +
	`min-height:90vh;margin:0}form{display:grid;gap:.75rem;width:min(20rem,90vw)}input,button{font:inherit;padding:.6rem .8rem;` +
	`border-radius:.6rem;border:1px solid #8886}button{background:#2557d6;color:#fff;border:0}[role=alert]{color:#c0392b}`

// loginScript submits the token of a login link, as a person would who pastes it into the form. It
// also handles a link that is opened while the form is shown.
const loginScript = `const go=()=>{const t=location.hash.slice(1);if(!t)return;history.replaceState(null,"",location.pathname);` +
	`const i=document.getElementById("token");i.value=t;i.form.submit()};go();addEventListener("hashchange",go)`

const loginPage = `<!doctype html><html lang="%s"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
	`<title>ShipMyAgent</title><style>%s</style><form method="post" action="%s"><h1>ShipMyAgent</h1>%s` +
	`<label for="token">%s</label><input id="token" name="token" type="password" autocomplete="current-password" required autofocus>` +
	`<button>%s</button></form><script>%s</script></html>`

// showLogin shows the form for the token. The form uses no other file, because all files require the
// token.
func showLogin(w http.ResponseWriter, r *http.Request, status int, fault string) {
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
	_, _ = fmt.Fprintf(w, loginPage, lang, loginStyle, loginAction(r), alert, label, button, loginScript)
}

// loginAction is where the form is sent to, relative to the address that it is shown at.
func loginAction(r *http.Request) string {
	switch {
	case strings.HasPrefix(r.URL.Path, consolePath):
		return "../login?to=console"
	case r.URL.Path+"/" == consolePath || toConsole(r):
		return "login?to=console"
	default:
		return "login"
	}
}

// hashSource permits one inline text in a content security policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
