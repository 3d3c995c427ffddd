package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxDepth is the maximum nesting of a request. Tool results in a client's history can be deep;
// messages that people write are not.
const maxDepth = 128

// readJSON reads a whole body, up to its limit, and then removes the read deadline, so that a
// stream may follow.
func readJSON(w http.ResponseWriter, r *http.Request) ([]byte, *respond.Problem) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, respond.Refused(http.StatusUnsupportedMediaType, "not_json", "Send the body as Content-Type: application/json.")
	}
	body, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, respond.Refused(http.StatusRequestEntityTooLarge, "too_large",
			"This is too large to send. Send a smaller file, or start a new chat if the page sends its whole history.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, respond.Refused(http.StatusRequestTimeout, "too_slow", "The request did not arrive in time.")
	case err != nil:
		return nil, respond.BadRequest("cut", "The request was cut.")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if tooDeep(body) {
		return nil, respond.BadRequest("too_deep", "The request nests too deep.")
	}
	return body, nil
}

// tooDeep counts brackets outside strings, before anything recurses into them.
func tooDeep(body []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// tooLong refuses a message whose texts alone exceed the limit for requests without files: larger
// bodies are accepted only for the sake of files.
func (p *Platform) tooLong(req request.Chat) *respond.Problem {
	for _, m := range append(slices.Clip(req.Shown), req.Last) {
		size := 0
		for _, part := range m.Parts {
			if t, ok := part.(uimessage.Text); ok {
				size += len(t.Text)
			}
		}
		if m.Role == uimessage.RoleUser && int64(size) > p.opts.MaxBody {
			return respond.Refused(http.StatusRequestEntityTooLarge, "too_large", "This text is too long to send. Shorten it, or send it as a file.")
		}
	}
	return nil
}
