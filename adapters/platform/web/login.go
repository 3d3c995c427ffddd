package web

import (
	"net/http"
)

// LoginLink is the address that logs a browser in. The token is in the fragment, which
// browsers never send; the page puts it into its form and takes it out of the address.
func LoginLink(page, token string) string { return page + loginPath + "#" + token }

// loginForm shows the form, also to those who are in.
func (p *Platform) loginForm(w http.ResponseWriter, r *http.Request) {
	p.page.login(w, r, http.StatusOK, "")
}

// login takes the token from the form and answers with a session cookie. The
// token is in the body, so that no log or history of addresses sees it.
func (p *Platform) login(w http.ResponseWriter, r *http.Request) {
	token := value(p.opts.Token)
	if token == "" {
		http.Redirect(w, r, "./", http.StatusSeeOther)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	if err := r.ParseForm(); err != nil {
		badRequest("bad_form", "The form could not be read.").write(w)
		return
	}
	refusal := p.guard.try(r, r.PostForm.Get("token"), token)
	switch {
	case refusal == nil:
		http.SetCookie(w, sessionCookie(r, p.guard.session(token), int(cookieLife.Seconds())))
		http.Redirect(w, r, "./", http.StatusSeeOther)
	case refusal.status == http.StatusUnauthorized:
		p.page.login(w, r, refusal.status, "wrong")
	default:
		refusal.write(w)
	}
}

// logout forgets the cookie.
func (p *Platform) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, sessionCookie(r, "", -1))
	http.Redirect(w, r, "./", http.StatusSeeOther)
}

func sessionCookie(r *http.Request, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
}
