package feishutest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/net/websocket"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// feishuPacket is the size limit of a packet of the long connection. Longer events are split, as by the service, which
// has a higher limit.
const feishuPacket = 500

// feishuLinks are the long connections that are open.
type feishuLinks struct {
	faketest.Changes
	mu     faketest.Guard
	open   []*feishuLink
	made   int
	pings  int
	nextID int
	frozen bool
	closed bool
	waits  map[string]chan []byte
}

type feishuLink struct {
	conn *websocket.Conn
	mu   sync.Mutex // of writes
}

type feishuFrame struct {
	service, method int64 // method 0 is control, 1 data
	headers         map[string]string
	payload         []byte
}

func linkConfig() map[string]any {
	return map[string]any{"ReconnectCount": -1, "ReconnectInterval": 120, "ReconnectNonce": 30, "PingInterval": 120}
}

func (s *feishuLinks) add(l *feishuLink) bool {
	defer s.Signal()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open, s.made = append(s.open, l), s.made+1
	return true
}

func (s *feishuLinks) remove(l *feishuLink) {
	_ = l.conn.Close()
	s.mu.Do(func() { s.open = slices.DeleteFunc(slices.Clone(s.open), func(x *feishuLink) bool { return x == l }) })
}

// frame handles a frame from the app: a ping, or the answer to an event.
func (s *feishuLinks) frame(l *feishuLink, f feishuFrame) {
	s.mu.Lock()
	frozen := s.frozen
	wait := s.waits[f.headers["message_id"]]
	if f.method == 0 {
		s.pings++
	}
	s.mu.Unlock()
	switch {
	case frozen:
	case f.method == 0 && f.headers["type"] == "ping":
		config, _ := json.Marshal(linkConfig())
		l.write(feishuFrame{service: f.service, headers: map[string]string{"type": "pong"}, payload: config})
	case f.method == 1 && wait != nil:
		select {
		case wait <- f.payload:
		default:
		}
	}
}

func (l *feishuLink) write(f feishuFrame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = websocket.Message.Send(l.conn, f.bytes()) // a broken connection is noticed by its reader
}

// post sends an event over the newest connection, and waits for a connection if there is none. The returned function
// waits for the answer and returns its data; it returns false if the answer is missing or an error.
func (s *feishuLinks) post(ctx context.Context, body []byte) func() ([]byte, bool) {
	l := s.newest(ctx)
	if l == nil {
		return func() ([]byte, bool) { return nil, false }
	}
	s.mu.Lock()
	s.nextID++
	id := "message-" + strconv.Itoa(s.nextID)
	wait := make(chan []byte, 1)
	s.waits[id] = wait
	s.mu.Unlock()
	sum := (len(body) + feishuPacket - 1) / feishuPacket
	for seq := range sum {
		l.write(feishuFrame{service: 33, method: 1, payload: body[seq*feishuPacket : min(len(body), (seq+1)*feishuPacket)], headers: map[string]string{
			"type": "event", "message_id": id, "sum": strconv.Itoa(sum), "seq": strconv.Itoa(seq), "trace_id": "trace", "timestamp": "1700000000000",
		}})
	}
	return func() ([]byte, bool) {
		defer s.mu.Do(func() { delete(s.waits, id) })
		return s.answer(ctx, l, wait)
	}
}

func (s *feishuLinks) answer(ctx context.Context, l *feishuLink, wait <-chan []byte) ([]byte, bool) {
	for {
		next := s.Next()
		select {
		case raw := <-wait:
			var answer struct {
				Code int    `json:"code"`
				Data []byte `json:"data"`
			}
			err := json.Unmarshal(raw, &answer)
			return answer.Data, err == nil && answer.Code == http.StatusOK
		case <-ctx.Done():
			return nil, false
		case <-next:
			if !s.has(l) {
				return nil, false
			}
		}
	}
}

func (s *feishuLinks) has(l *feishuLink) bool {
	return faketest.Get(&s.mu, func() bool { return slices.Contains(s.open, l) })
}

func (s *feishuLinks) newest(ctx context.Context) *feishuLink {
	for {
		next := s.Next()
		s.mu.Lock()
		if n := len(s.open); n > 0 && !s.frozen {
			defer s.mu.Unlock()
			return s.open[n-1]
		}
		s.mu.Unlock()
		select {
		case <-next:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *feishuLinks) closeAll() {
	s.mu.Do(func() { s.closed = true })
	s.cut()
}

// cut ends every connection. Answers to events that were sent over them never arrive.
func (s *feishuLinks) cut() {
	s.mu.Lock()
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for _, l := range open {
		_ = l.conn.Close()
	}
	s.Signal()
}

// bytes encodes a frame, always with all four numbers.
func (f feishuFrame) bytes() []byte {
	var b []byte
	for i, v := range []int64{1, 1, f.service, f.method} {
		b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(i+1), protowire.VarintType), uint64(v))
	}
	for k, v := range f.headers {
		h := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), k)
		h = protowire.AppendString(protowire.AppendTag(h, 2, protowire.BytesType), v)
		b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), h)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, 8, protowire.BytesType), f.payload)
}

func readHeader(b []byte, into map[string]string) bool {
	_, _, t := protowire.ConsumeTag(b)
	key, m := protowire.ConsumeString(b[max(t, 0):])
	if t < 0 || m < 0 {
		return false
	}
	rest := b[t+m:]
	_, _, t = protowire.ConsumeTag(rest)
	value, m := protowire.ConsumeString(rest[max(t, 0):])
	if t < 0 || m < 0 {
		return false
	}
	into[key] = value
	return true
}

// readFrame decodes a frame, which is invalid without its four numbers.
func readFrame(b []byte) (f feishuFrame, ok bool) {
	f.headers = map[string]string{}
	numbers := map[protowire.Number]int64{}
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return f, false
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return f, false
			}
			numbers[num], b = int64(v), b[n:]
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return f, false
			}
			b = b[n:]
			if num == 8 {
				f.payload = v
			}
			if num == 5 && !readHeader(v, f.headers) {
				return f, false
			}
		default:
			return f, false
		}
	}
	f.service, f.method = numbers[3], numbers[4]
	return f, len(numbers) >= 4
}

func (a *API) addLinks(mux *http.ServeMux, add func(string, bool, func(*http.Request, map[string]any) (any, *feishuRefusal))) {
	a.links.waits = map[string]chan []byte{}
	add("POST /callback/ws/endpoint", true, func(r *http.Request, body map[string]any) (any, *feishuRefusal) {
		if body["AppID"] != App || body["AppSecret"] != feishuSecret {
			return nil, &feishuRefusal{status: http.StatusOK, code: 1000040351, text: "app id or secret is incorrect"}
		}
		// This is the address that the app used, so that a proxy between them stays in use.
		url := "ws://" + r.Host + "/callback/ws/link?device_id=7&service_id=33&access_key=CANARY&ticket=" + a.newID("t")
		return map[string]any{"URL": url, "ClientConfig": linkConfig()}, nil
	})
	mux.Handle("GET /callback/ws/link", websocket.Server{Handler: a.link})
}

func (a *API) link(conn *websocket.Conn) {
	conn.PayloadType = websocket.BinaryFrame
	l := &feishuLink{conn: conn}
	if !a.links.add(l) {
		return
	}
	defer a.Signal()
	defer a.links.remove(l)
	a.Signal()
	for {
		var raw []byte
		if websocket.Message.Receive(conn, &raw) != nil {
			return
		}
		f, ok := readFrame(raw)
		if !ok {
			return // the service closes what it cannot read
		}
		a.links.frame(l, f)
		a.Signal()
	}
}

// CutLinks ends every long connection.
func (a *API) CutLinks() { a.links.cut() }

// FreezeLinks makes long connections silent without ending them, or lets them speak again.
func (a *API) FreezeLinks(on bool) {
	a.links.mu.Do(func() { a.links.frozen = on })
	a.links.Signal()
}

// Links returns the number of open long connections, and of all that were ever made.
func (a *API) Links() (open, made int) {
	a.links.mu.Lock()
	defer a.links.mu.Unlock()
	return len(a.links.open), a.links.made
}

// Pings is the number of pings received over long connections.
func (a *API) Pings() int { return faketest.Get(&a.links.mu, func() int { return a.links.pings }) }
