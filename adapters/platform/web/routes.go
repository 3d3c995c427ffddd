package web

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
)

// routes builds the handler: limits, then the guard, then the routes.
func (p *Platform) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range p.table() {
		if !forViewers(pattern) {
			serve = p.notForViewers(serve)
		}
		mux.HandleFunc(pattern, serve)
	}
	return p.outer(mux)
}

// forViewers reports whether viewers may use a route. Every other one refuses them.
func forViewers(pattern string) bool {
	return slices.Contains([]string{consolePath, "GET " + loginPath, "POST " + loginPath, "POST /logout", "GET " + livezPath, "GET /favicon.ico"}, pattern)
}

// notForViewers refuses viewers, but leads them from the chat page to the console.
func (p *Platform) notForViewers(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case RoleOf(r.Context()) != RoleViewer:
			next(w, r)
		case r.URL.Path == "/":
			http.Redirect(w, r, strings.TrimPrefix(consolePath, "/"), http.StatusSeeOther)
		default:
			respond.Refused(http.StatusForbidden, "viewer", "With this token you may only look at the console.").Write(w)
		}
	}
}

// console serves the console. What follows a chat there ends when the platform closes; an order is
// carried out to its end.
func (p *Platform) console(w http.ResponseWriter, r *http.Request) *respond.Problem {
	if p.opts.Console == nil || p.opts.Private {
		return noRoute(w, r)
	}
	if r.Method == http.MethodGet {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-p.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		r = r.WithContext(ctx)
	}
	p.opts.Console.ServeHTTP(w, r)
	return nil
}

// handle serves a route by a function that returns why it refuses a request, if it does.
func handle(serve func(http.ResponseWriter, *http.Request) *respond.Problem) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if refusal := serve(w, r); refusal != nil {
			refusal.Write(w)
		}
	}
}

// ofChat is handle for the routes of a chat.
func (p *Platform) ofChat(serve func(http.ResponseWriter, *http.Request, messages.ChatKey) *respond.Problem) http.HandlerFunc {
	return handle(func(w http.ResponseWriter, r *http.Request) *respond.Problem {
		key, refusal := p.chatKey(r.PathValue("id"))
		if refusal != nil {
			return refusal
		}
		return serve(w, r, key)
	})
}

// table returns all routes.
func (p *Platform) table() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET " + livezPath:            livez,
		"GET /{$}":                    p.static("index.html"),
		"GET /static/{file}":          p.static(""),
		"GET " + loginPath:            p.loginForm,
		"POST " + loginPath:           p.login,
		"POST /logout":                p.logout,
		"GET /api/info":               handle(p.info),
		"GET /api/chats":              handle(p.chats),
		"POST /api/chat":              handle(p.chat),
		"GET /api/chat/{id}":          p.ofChat(p.history),
		"GET /api/chat/{id}/view":     p.ofChat(p.view),
		"GET /api/chat/{id}/outcome":  p.ofChat(p.outcome),
		"GET /api/chat/{id}/stream":   p.ofChat(p.resume),
		"GET /api/chat/{id}/events":   p.ofChat(p.events),
		"POST /api/chat/{id}/stop":    p.ofChat(p.stop),
		"PUT /api/chat/{id}/title":    p.ofChat(p.rename),
		"DELETE /api/chat/{id}":       p.ofChat(p.forget),
		"POST " + executePath:         handle(p.execute),
		"/api/":                       handle(noRoute),
		consolePath:                   handle(p.console),
		"GET /favicon.ico":            p.static("icon.svg"),
		"GET /static/{dir}/{rest...}": handle(noRoute),

		"GET /api/chat/{id}/voice/{file}": p.ofChat(p.voice),
		"POST /api/chat/{id}/files":       p.ofChat(p.upload),
		"GET /api/chat/{id}/files/{file}": p.ofChat(p.file),

		"GET /api/chat/{id}/files/{folder}/{file}": p.ofChat(p.file),
	}
}

// static serves an embedded file: the one that is named, or else the one in the path.
func (p *Platform) static(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { p.page.Serve(w, r, cmp.Or(name, r.PathValue("file"))) }
}

func livez(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }

func noRoute(http.ResponseWriter, *http.Request) *respond.Problem {
	return respond.Refused(http.StatusNotFound, "no_route", "There is no such address here.")
}

// policy is what browsers may do with responses: nothing from other origins, no inline scripts, no
// text as HTML.
const policy = "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func (p *Platform) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &respond.Recorder{ResponseWriter: w, Style: respond.StyleOf(r)}
		p.limit(rec, r)
		h := rec.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		role, refusal := p.guard.check(r)
		r = r.WithContext(context.WithValue(r.Context(), roleKey{}, role))
		if refusal != nil {
			p.refuse(rec, r, refusal)
		} else {
			next.ServeHTTP(rec, r)
		}
		p.metrics.requests.WithLabelValues(routeOf(r), strconv.Itoa(rec.Code())).Inc()
	})
}

// limit bounds a request before its sender is known: the size of its body, the time to receive it,
// and the time to send the response. Streams set their own deadlines once their body is read.
func (p *Platform) limit(w http.ResponseWriter, r *http.Request) {
	now, rc := time.Now(), http.NewResponseController(w)
	most, timeout := p.maxBody(r), p.opts.BodyTimeout
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if r.ContentLength > p.opts.MaxBody && r.ContentLength <= most {
		timeout = max(timeout, fileTime)
	}
	// Setting deadlines fails only with a test's recorder.
	if r.ContentLength != 0 {
		_ = rc.SetReadDeadline(now.Add(timeout))
	}
	_ = rc.SetWriteDeadline(now.Add(p.opts.WriteTimeout + timeout))
}

// refuse shows people the login form and gives programs the reason.
func (p *Platform) refuse(w http.ResponseWriter, r *http.Request, refusal *respond.Problem) {
	if r.Body != http.NoBody {
		w.Header().Set("Connection", "close") // the rest of the body is not read
	}
	isPage := !isAPI(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
	if refusal.Status == http.StatusUnauthorized && r.Method == http.MethodGet && isPage {
		showLogin(w, r, http.StatusUnauthorized, "")
		return
	}
	refusal.Write(w)
}

// routeOf returns the label of a request: the pattern it matched, never its path.
func routeOf(r *http.Request) string {
	if r.Pattern == "" {
		return "none"
	}
	return r.Pattern
}
