package bodies

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// handler responds with the status of reading, and with what was read.
func handler(r *Reader, most int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, code := r.Read(w, req, most)
		if code != http.StatusOK {
			w.Header().Set("Connection", "close")
		}
		w.WriteHeader(code)
		_, _ = w.Write(raw)
	})
}

// TestRead checks that complete bodies are read, and longer ones refused, with or without a
// declared length.
func TestRead(t *testing.T) {
	s := httptest.NewServer(handler(&Reader{}, 10))
	defer s.Close()
	for _, c := range []struct {
		body io.Reader
		want int
	}{
		{strings.NewReader(""), 200},
		{strings.NewReader("0123456789"), 200},
		{strings.NewReader("0123456789a"), 413},
		{io.MultiReader(strings.NewReader("0123456789")), 200},
		{io.MultiReader(strings.NewReader("0123456789a")), 413},
	} {
		for range 2 { // the second over the same connection, if it is still open
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, c.body)
			stdtest.Must(t, err)
			resp, err := s.Client().Do(req)
			stdtest.Must(t, err)
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != c.want {
				t.Errorf("answered %d, want %d", resp.StatusCode, c.want)
			}
			c.body = strings.NewReader(map[bool]string{true: "x", false: "0123456789a"}[c.want == 200])
		}
	}
}

// TestSlowBodiesEnd checks that a body has three seconds, however many of its bytes have arrived,
// and that work on a complete body is not cut off by that.
func TestSlowBodiesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := faketest.NewPipe(t)
		var r Reader
		server := &http.Server{ReadHeaderTimeout: time.Second, ReadTimeout: 15 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if _, code := r.Read(w, req, 1000); code != http.StatusOK {
				w.Header().Set("Connection", "close")
				w.WriteHeader(code)
				return
			}
			select {
			case <-req.Context().Done():
				t.Error("the work was cut")
			case <-time.After(time.Minute): // simulated time
			}
		})}
		go func() { _ = server.Serve(pipe) }()
		defer server.Close() //nolint:errcheck // nothing is left
		in, out := io.Pipe()
		go func() {
			for range 5 {
				_, _ = io.WriteString(out, "x") // in the end the reader has gone
				<-time.After(time.Second)       // simulated time
			}
			_ = out.Close()
		}()
		for _, c := range []struct {
			body io.Reader
			want int
			took time.Duration
		}{{in, http.StatusRequestTimeout, Patience}, {strings.NewReader("whole"), http.StatusOK, time.Minute}} {
			began := time.Now()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://bot.example/", c.body)
			stdtest.Must(t, err)
			resp, err := pipe.Client().Do(req)
			stdtest.Must(t, err)
			_ = resp.Body.Close()
			if resp.StatusCode != c.want || time.Since(began) != c.took {
				t.Errorf("answered %d after %v, want %d after %v", resp.StatusCode, time.Since(began), c.want, c.took)
			}
		}
		if len(r.reading) != 0 {
			t.Errorf("%d bodies are being read", len(r.reading))
		}
	})
}

// TestRoom checks the limits for one address and for all: beyond them the oldest body is cut off
// for the next one.
func TestRoom(t *testing.T) {
	var r Reader
	s := httptest.NewServer(handler(&r, 10))
	defer s.Close()
	conns := map[string][]net.Conn{}
	began := func(from string) {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		stdtest.Must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		conns[from] = append(conns[from], conn)
		head := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
		if _, err := io.ReadFull(conn, head); err != nil || !strings.Contains(string(head), " 100 ") {
			t.Fatalf("%q, %v", head, err)
		}
	}
	count := func() map[string]int {
		r.mu.Lock()
		defer r.mu.Unlock()
		n := map[string]int{}
		for _, at := range r.reading {
			n[at.peer]++
		}
		n[""] = len(r.reading)
		return n
	}
	ended := func(conn net.Conn) bool {
		_ = conn.SetReadDeadline(time.Now().Add(2 * Patience))
		text, _ := io.ReadAll(conn) // the connection is then closed
		return strings.Contains(string(text), " 408 ")
	}
	for range PerPeer + 1 {
		began("127.0.0.2")
	}
	if n := count(); n["127.0.0.2"] > PerPeer || !ended(conns["127.0.0.2"][0]) {
		t.Errorf("of one address are read: %v", n)
	}
	for i := range AtOnce {
		began(fmt.Sprintf("127.0.1.%d", i))
	}
	if n := count(); n[""] > AtOnce || !ended(conns["127.0.0.2"][1]) {
		t.Errorf("of all are read: %v", n)
	}
	last := conns[fmt.Sprintf("127.0.1.%d", AtOnce-1)][0]
	_, _ = io.WriteString(last, "whole")
	if text, err := io.ReadAll(io.LimitReader(last, 12)); err != nil || string(text) != "HTTP/1.1 200" {
		t.Errorf("one that had room: %q, %v", text, err)
	}
}

func TestPeers(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64", "[fe80::1%lo]:80": "fe80::/64", "pipe": "pipe",
	} {
		if got := Peer(remote); got != want {
			t.Errorf("%s is %s, want %s", remote, got, want)
		}
	}
}

// TestGoneSenders checks that disconnected senders take no capacity.
func TestGoneSenders(t *testing.T) {
	var r Reader
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer close(gone)
		if _, code := r.Read(w, req, 10); code != http.StatusBadRequest {
			t.Errorf("answered %d", code)
		}
	}))
	defer s.Close()
	conn, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", s.Listener.Addr().String())
	stdtest.Must(t, err)
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nx")
	_ = conn.Close()
	<-gone
	if !slices.Equal(r.reading, nil) {
		t.Errorf("%d bodies are being read", len(r.reading))
	}
}
