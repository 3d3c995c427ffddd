package modeltest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WireEvent is one event of an answer as a server sends it.
type WireEvent struct {
	Name string // of the event, if the protocol has names
	Data string // a JSON object, or the end mark
}

// parseEvents reads what a server of a test has sent.
func parseEvents(body string) (list []WireEvent) {
	for text := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		var e WireEvent
		for line := range strings.SplitSeq(text, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				e.Name = name
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				e.Data = data
			}
		}
		list = append(list, e)
	}
	return list
}

// encodeEvents is what a careful server sends.
func encodeEvents(list []WireEvent) string {
	var b strings.Builder
	for _, e := range list {
		if e.Name != "" {
			b.WriteString("event: " + e.Name + "\n")
		}
		b.WriteString("data: " + e.Data + "\n\n")
	}
	return b.String()
}

// delivery is an answer and how it gets to the client.
type delivery struct {
	status int    // 0: 200
	kind   string // content type; empty: text/event-stream
	header string // one more header: a name, ": " and a value
	body   string
	piece  int // how many bytes are sent at once; 0: all
	gzip   bool
	end    ending
	ping   bool // comments are sent until the client leaves
}

// ending is what happens to the connection after the body.
type ending int

const (
	endWhole     ending = iota
	endSilent           // nothing happens
	endUnbegun          // nothing happens, and there are no headers either
	endCut              // it is closed within the chunks of HTTP
	endShort            // it is closed before the announced length
	endUnmarked         // it is closed, which is the only sign of the end
	endReset            // it is reset before there is an answer
	pingInterval = 5 * time.Millisecond
)

func (d delivery) play(w http.ResponseWriter, r *http.Request) {
	if d.end == endReset {
		reset(w)
		return
	}
	if d.end == endUnbegun {
		<-r.Context().Done()
		return
	}
	d.head(w.Header())
	w.WriteHeader(cmp.Or(d.status, http.StatusOK))
	d.write(w)
	switch d.end {
	case endCut:
		panic(http.ErrAbortHandler)
	case endSilent:
		var every time.Duration
		if d.ping {
			every = pingInterval
		}
		silence(w, r, every)
	case endWhole, endUnbegun, endShort, endUnmarked, endReset:
	}
}

func (d delivery) head(h http.Header) {
	h.Set("Content-Type", cmp.Or(d.kind, "text/event-stream"))
	if name, value, ok := strings.Cut(d.header, ": "); ok {
		h.Set(name, value)
	}
	switch d.end {
	case endShort:
		h.Set("Content-Length", strconv.Itoa(len(d.body)+100))
	case endUnmarked:
		h.Set("Transfer-Encoding", "identity")
	case endWhole, endSilent, endUnbegun, endCut, endReset:
	}
	if d.gzip {
		h.Set("Content-Encoding", "gzip")
	}
}

// write sends the body. A client that left ends the request's context.
func (d delivery) write(w http.ResponseWriter) {
	flush := http.NewResponseController(w).Flush
	if d.gzip {
		z := gzip.NewWriter(w)
		for event := range strings.SplitAfterSeq(d.body, "\n\n") {
			_, _ = io.WriteString(z, event)
			_ = z.Flush()
			_ = flush()
		}
		_ = z.Close()
		return
	}
	size := cmp.Or(d.piece, len(d.body), 1)
	for rest := d.body; rest != ""; {
		n := min(size, len(rest))
		_, _ = io.WriteString(w, rest[:n])
		_ = flush()
		rest = rest[n:]
	}
	_ = flush()
}

// silence lasts until the client leaves. If every is positive, comments are sent at this interval.
func silence(w http.ResponseWriter, r *http.Request, every time.Duration) {
	var ping <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		ping = t.C
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-ping:
			_, _ = io.WriteString(w, ": ping\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// reset ends the connection of a request without an answer.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // Unreachable: connections of HTTP/1.1 can be taken over.
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it only makes the end harder
	}
	_ = conn.Close()
}

// indented is the data of an event on several lines.
func indented(data string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(data), "", " ") != nil {
		return data
	}
	return b.String()
}
