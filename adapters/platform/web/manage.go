package web

import (
	"context"
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
func (p *Platform) forget(w http.ResponseWriter, r *http.Request) {
	p.manage(w, r, "forget", p.opts.Forget)
}

// rename serves PUT /api/chat/{id}/title with {"title": "…"}.
func (p *Platform) rename(w http.ResponseWriter, r *http.Request) {
	body, refusal := readJSON(w, r)
	var in struct {
		Title *string `json:"title"`
	}
	if refusal == nil && (json.Unmarshal(body, &in) != nil || in.Title == nil) {
		refusal = respond.BadRequest("bad_json", "The body is {\"title\": \"…\"}.")
	}
	title := ""
	if refusal == nil {
		title = strings.Join(strings.Fields(*in.Title), " ")
		if utf8.RuneCountInString(title) > maxTitle {
			refusal = respond.BadRequest("too_long", "A title has at most 120 characters.")
		}
	}
	if refusal != nil {
		refusal.Write(w)
		return
	}
	do := p.opts.Rename
	if do == nil {
		noRoute(w, r)
		return
	}
	p.manage(w, r, "rename", func(ctx context.Context, key messages.ChatKey) error { return do(ctx, key, title) })
}

// manage applies an operation to the chat in the path.
func (p *Platform) manage(w http.ResponseWriter, r *http.Request, what string, do func(context.Context, messages.ChatKey) error) {
	key, refusal := p.chatKey(r.PathValue("id"))
	switch {
	case refusal != nil:
		refusal.Write(w)
		return
	case do == nil:
		noRoute(w, r)
		return
	}
	err := do(r.Context(), key)
	// A deletion takes the time that it needs, and its answer is still sent. Only a test's recorder has no deadline.
	_ = http.NewResponseController(w).SetWriteDeadline(p.writeDeadline())
	if err != nil {
		p.fail(w, r, key, what, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
