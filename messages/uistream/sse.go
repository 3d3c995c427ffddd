package uistream

import (
	"net/http"
)

// The frames of the stream that are no chunks.
const (
	// Done ends every stream.
	Done = "data: [DONE]\n\n"
	// Opened is the comment a stream may begin with, to get through proxies before
	// the first chunk.
	Opened = ": stream-open\n\n"
)

// SetHeaders sets the headers of a UI message stream, except those that h has already.
func SetHeaders(h http.Header) {
	for _, pair := range [...][2]string{
		{"Content-Type", "text/event-stream"},
		{"Cache-Control", "no-cache"},
		{"Connection", "keep-alive"},
		{"X-Vercel-Ai-Ui-Message-Stream", "v1"},
		{"X-Accel-Buffering", "no"},
	} {
		if h.Get(pair[0]) == "" {
			h.Set(pair[0], pair[1])
		}
	}
}

// AppendEvent appends a chunk as one server-sent event.
func AppendEvent(dst []byte, c Chunk) []byte {
	dst = append(dst, "data: "...)
	dst = AppendJSON(dst, c)
	return append(dst, "\n\n"...)
}
