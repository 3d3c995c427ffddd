package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxTitle is the maximum length of a chat's title, in characters.
const maxTitle = 120

// forget serves DELETE /api/chat/{id}: it permanently deletes everything stored about the chat.
func (p *Platform) forget(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	if p.opts.Forget == nil {
		return noRoute(w, r)
	}
	return p.managed(w, r, key, "forget", p.opts.Forget(r.Context(), key))
}

// rename serves PUT /api/chat/{id}/title with {"title": "…"}.
func (p *Platform) rename(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	body, refusal := readJSON(w, r)
	if refusal != nil {
		return refusal
	}
	var in struct {
		Title *string `json:"title"`
	}
	if json.Unmarshal(body, &in) != nil || in.Title == nil {
		return respond.BadRequest("bad_json", "The body is {\"title\": \"…\"}.")
	}
	title := strings.Join(strings.Fields(*in.Title), " ")
	switch {
	case utf8.RuneCountInString(title) > maxTitle:
		return respond.BadRequest("too_long", "A title has at most 120 characters.")
	case p.opts.Rename == nil:
		return noRoute(w, r)
	}
	return p.managed(w, r, key, "rename", p.opts.Rename(r.Context(), key, title))
}

// managed answers an operation on a chat.
func (p *Platform) managed(w http.ResponseWriter, r *http.Request, key messages.ChatKey, what string, err error) *respond.Problem {
	// A deletion takes the time that it needs, and its answer is still sent. Only a test's recorder has no deadline.
	_ = http.NewResponseController(w).SetWriteDeadline(p.writeDeadline())
	if err != nil {
		return p.problem(r.Context(), key, what, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
