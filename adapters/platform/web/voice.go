package web

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// voiceTime is the time limit for downloading a voice message.
const voiceTime = 2 * time.Minute

// voice serves GET /api/chat/{id}/voice/{file}: a voice message that the model spoke in the chat.
// It serves no other file of the chat.
func (p *Platform) voice(w http.ResponseWriter, r *http.Request) {
	key, refusal := p.chatKey(r.PathValue("id"))
	if refusal != nil {
		refusal.Write(w)
		return
	}
	if p.opts.Voice == nil {
		respond.NotFound().Write(w)
		return
	}
	name := r.PathValue("file")
	f, err := p.opts.Voice(key, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		respond.NotFound().Write(w)
		return
	case err != nil:
		p.fail(w, r, key, "voice", err)
		return
	}
	defer f.Close() //nolint:errcheck // only read from
	kind := map[string]string{".opus": "audio/ogg", ".mp3": "audio/mpeg", ".wav": "audio/wav"}[path.Ext(name)]
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", "inline")
	// This fails only with a test's recorder, which has no deadlines.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(voiceTime))
	http.ServeContent(w, r, "", time.Time{}, f)
}
