package web

import (
	"net/http"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// LoginLink returns the URL that logs a browser in. The token is in the fragment, which browsers
// never send; the page copies it to its form and removes it from the URL.
func LoginLink(page, token string) string { return page + loginPath + "#" + token }

// loginForm shows the form, also to people who are logged in.
func (p *Platform) loginForm(w http.ResponseWriter, r *http.Request) {
	showLogin(w, r, http.StatusOK, "")
}

// login reads the token from the form and answers with a session cookie. The token is in the body,
// so that it appears in no log and no browser history.
func (p *Platform) login(w http.ResponseWriter, r *http.Request) {
	if value(p.opts.Token) == "" {
		http.Redirect(w, r, "./", http.StatusSeeOther)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	if err := r.ParseForm(); err != nil {
		respond.BadRequest("bad_form", "The form could not be read.").Write(w)
		return
	}
	of, refusal := p.guard.try(r, r.PostForm.Get("token"), p.guard.passes())
	switch {
	case refusal == nil:
		http.SetCookie(w, p.sessionCookie(r, p.guard.session(of.token), int(cookieLife.Seconds())))
		next := "./"
		if of.role == RoleViewer || toConsole(r) {
			next = strings.TrimPrefix(consolePath, "/")
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	case refusal.Status == http.StatusUnauthorized:
		showLogin(w, r, refusal.Status, "wrong")
	default:
		refusal.Write(w)
	}
}

// toConsole reports whether a login came from the console and leads back to it.
func toConsole(r *http.Request) bool { return r.URL.Query().Get("to") == "console" }

// logout deletes the cookie.
func (p *Platform) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, p.sessionCookie(r, "", -1))
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

func (p *Platform) sessionCookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: p.guard.cookie, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
