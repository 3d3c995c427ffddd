package control

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// heartbeat is the interval of comments on a silent stream of events.
	heartbeat = 10 * time.Second
	// writeWithin bounds one write to a reader. The stream itself has no end.
	writeWithin = 10 * time.Second
)

// follow serves GET /control/follow: what happens in a chat, until the client disconnects or the chat is passivated.
// Clients may follow it again. It is one JSON object per line or, for clients that accept text/event-stream,
// server-sent events with heartbeats.
func (o Options) follow(w http.ResponseWriter, r *http.Request) {
	key, err := messages.ParseChatKey(r.URL.Query().Get("key"))
	if err != nil {
		Refuse(w, http.StatusBadRequest, err)
		return
	}
	frames, err := o.Watch(r.Context(), key)
	if err != nil {
		Reply(w, nil, err)
		return
	}
	s := stream{w: w, out: http.NewResponseController(w), events: strings.Contains(r.Header.Get("Accept"), "text/event-stream")}
	if s.events {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-cache, no-store, no-transform")
		w.Header().Set("X-Accel-Buffering", "no")
	}
	if s.send(query.Happening{Kind: query.HappenedWatching}) != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for err == nil { // a failed write means that the client has disconnected
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			err = s.beat()
		case f, ok := <-frames:
			if !ok {
				return
			}
			for _, h := range query.Happenings(f) {
				err = s.send(h)
			}
		}
	}
}

// stream writes documents that follow each other.
type stream struct {
	w      io.Writer
	out    *http.ResponseController
	events bool
}

func (s stream) send(h query.Happening) error {
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if s.events {
		return s.write("data: " + string(line) + "\n\n")
	}
	return s.write(string(line) + "\n")
}

// beat shows readers of events that the connection works. Readers of lines expect nothing else.
func (s stream) beat() error {
	if !s.events {
		return nil
	}
	return s.write(": waiting\n\n")
}

func (s stream) write(text string) error {
	_ = s.out.SetWriteDeadline(time.Now().Add(writeWithin)) // only a test's recorder has none
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.out.Flush()
}
