package web

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// problem is a refused request: a status, a code for programs and a sentence for people.
type problem struct {
	status     int
	code       string
	message    string
	retryAfter time.Duration
	limit      int64 // if the sentence states one
}

func refused(status int, code, message string) *problem {
	return &problem{status: status, code: code, message: message}
}

func badRequest(code, message string) *problem {
	return refused(http.StatusBadRequest, code, message)
}

func unauthorized() *problem {
	return refused(http.StatusUnauthorized, "token_required",
		"You are not logged in here. Open the link that \"sma link\" prints, then try again. A program sends the token as a bearer token.")
}

func busy() *problem {
	return refused(http.StatusConflict, "busy", "The chat is busy with an answer. Stop it or wait until it ends, then try again.")
}

func notFound() *problem {
	return refused(http.StatusNotFound, "not_found", "There is no such chat or message.")
}

// problemOf converts an error of the core. The wrapped error is for the log, not for people.
func problemOf(err error) *problem {
	switch {
	case errors.Is(err, platform.ErrBusy):
		return busy()
	case errors.Is(err, platform.ErrNotFound):
		return notFound()
	default:
		p := refused(http.StatusServiceUnavailable, "unavailable", "The host takes no messages now. Try again in a moment.")
		p.retryAfter = time.Second
		return p
	}
}

// write responds with the problem: as a sentence or as JSON, in the reader's language.
func (p *problem) write(w http.ResponseWriter) {
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	if p.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="sma"`)
	}
	how, message := style{}, p.message
	if rec, ok := w.(*recorder); ok {
		how = rec.style
	}
	if how.chinese {
		message = p.inChinese()
	}
	if how.sentence {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set(codeHeader, p.code)
		w.WriteHeader(p.status)
		_, _ = io.WriteString(w, message) // fails only if the reader has disconnected
		return
	}
	writeJSON(w, p.status, map[string]string{"error": p.code, "message": message})
}

// writeJSON responds with v. It ignores errors: the reader has disconnected.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}
