package web

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
)

// submitted is a message without an id, as clients without a history send it.
func submitted(text string) string {
	return `{"id":"c1","message":{"role":"user","parts":[{"type":"text","text":"` + text + `"}]}}`
}

// The same key means one turn and one answer, whatever ids the client makes up; the same key with
// another text is an error that is reported to the client.
func TestIdempotencyKeyIsOneTurn(t *testing.T) {
	s := newServer(t, nil)
	s.live.OnAccept = s.live.Echo
	first := readAll(t, s.do(t, "POST", "/api/chat", submitted("hi"), request.KeyHeader, "k1"))
	in := s.live.Next(t)
	if in.IngressID != "key:k1" || in.TurnID == "" || !strings.Contains(first, "You said: hi") {
		t.Fatalf("inbound %+v answered %s", in, first)
	}
	for name, body := range map[string]string{
		"without an id":   submitted("hi"),
		"with another id": submit("c1", "u-other", "hi"),
		"with all of them": `{"id":"c1","messages":[{"id":"x","role":"user","parts":[{"type":"text","text":"hi"}]}],` +
			`"trigger":"submit-message"}`,
		"asked for again": `{"id":"c1","trigger":"regenerate-message"}`,
	} {
		if got := readAll(t, s.do(t, "POST", "/api/chat", body, request.KeyHeader, "k1")); !strings.Contains(got, "You said: ") || !strings.Contains(got, `"messageId":"`+answerID(first)) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if res := s.do(t, "POST", "/api/chat", submitted("other words"), request.KeyHeader, "k1"); res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("other words answered %d", res.StatusCode)
	}
	if res := s.do(t, "POST", "/api/chat", submitted("hi"), request.KeyHeader, strings.Repeat("k", 300)); res.StatusCode != http.StatusBadRequest {
		t.Errorf("an endless key answered %d", res.StatusCode)
	}
	if s.live.Unread() != 0 {
		t.Error("the repeated request was taken again")
	}
	readAll(t, s.do(t, "POST", "/api/chat", submitted("hi"), request.KeyHeader, "k2"))
	if in := s.live.Next(t); in.IngressID != "key:k2" {
		t.Errorf("another key made %+v", in)
	}
}

// answerID returns the id of the message that a stream begins with.
func answerID(stream string) string {
	_, rest, _ := strings.Cut(stream, `"messageId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// Simultaneous requests see a chat without any of them. One is accepted, and all get its answer.
func TestIdempotencyKeyAtTheSameMoment(t *testing.T) {
	s := newServer(t, nil)
	s.live.OnAccept = s.live.Echo
	bodies := make([]string, 8)
	var wg sync.WaitGroup
	for i := range bodies {
		wg.Go(func() {
			bodies[i] = readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u"+string(rune('a'+i)), "hi"), request.KeyHeader, "k"))
		})
	}
	wg.Wait()
	for _, body := range bodies {
		if !strings.Contains(body, "You said: hi") || answerID(body) != answerID(bodies[0]) {
			t.Errorf("answered %s", body)
		}
	}
	s.live.Next(t)
	if s.live.Unread() != 0 {
		t.Error("it was taken twice")
	}
}

// A key that the chat knows, but whose turn is no longer in the history, for example after a
// compaction, is never accepted again.
func TestIdempotencyKeyOfAFoldedTurn(t *testing.T) {
	s := newServer(t, nil)
	s.live.Know(key, "key:k1", "gone")
	if res := s.do(t, "POST", "/api/chat", submitted("hi"), request.KeyHeader, "k1"); res.StatusCode != http.StatusGone {
		t.Errorf("answered %d", res.StatusCode)
	}
}

// A key on the API means one run, whatever messageId accompanies it.
func TestIdempotencyKeyOnExecute(t *testing.T) {
	s := apiServer(t)
	s.live.OnAccept = func(in platform.Inbound) { s.answerAPI(in) }
	for _, body := range []string{`{"instructions":"what time?","userId":"ann"}`, `{"instructions":"what time?","userId":"ann"}`} {
		if got := readAll(t, s.execute(t, body, request.KeyHeader, "k1")); !strings.Contains(got, "noon for ann") {
			t.Errorf("answered %s", got)
		}
	}
	s.live.Next(t)
	if s.live.Unread() != 0 {
		t.Error("it ran twice")
	}
}
