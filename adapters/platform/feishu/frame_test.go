package feishu

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFrame checks that a frame survives encoding and decoding, including unknown fields.
func TestFrame(t *testing.T) {
	want := frame{
		seq: 1, log: 1 << 60, service: 33, method: methodData, headers: [][2]string{{"type", "event"}, {"sum", "2"}}, payload: []byte("{}"),
		rest: []byte("\x32\x04gzip\x4a\x01x"), // fields 6 and 9
	}
	got, err := decodeFrame(want.encode())
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(frame{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got.number("sum") != 2 || got.number("type") != 0 || got.header("none") != "" {
		t.Errorf("headers %v", got.headers)
	}
}

// TestJoin checks that packets may arrive in any order, and invalid ones are dropped.
func TestJoin(t *testing.T) {
	l := newPieces(maxEvent)
	piece := func(id, sum, seq, text string) ([]byte, bool) {
		return l.join(frame{headers: [][2]string{{"message_id", id}, {"sum", sum}, {"seq", seq}}, payload: []byte(text)})
	}
	for i, x := range []struct{ id, sum, seq, text, want string }{
		{"a", "1", "0", "whole", "whole"},
		{"b", "2", "1", "two", ""},
		{"c", "2", "0", "three ", ""},
		{"b", "2", "0", "one ", "one two"},
		{"c", "3", "1", "x", ""},
		{"c", "2", "7", "x", ""},
		{"c", "2", "-1", "x", ""},
		{"d", "99999999", "0", "x", ""},
		{"", "2", "0", "x", ""},
		{"c", "2", "1", "four", "three four"},
	} {
		got, ok := piece(x.id, x.sum, x.seq, x.text)
		if string(got) != x.want || ok != (x.want != "") {
			t.Errorf("%d: %q, %t; want %q", i, got, ok, x.want)
		}
	}
	if len(l.open) != 0 {
		t.Errorf("%d events are left", len(l.open))
	}
}

// FuzzFrame decodes arbitrary bytes: nothing panics, and what can be decoded survives encoding.
func FuzzFrame(f *testing.F) {
	f.Add(frame{seq: 1, service: 33, method: 1, headers: [][2]string{{"type", "event"}}, payload: []byte("{}")}.encode())
	f.Add([]byte{0x2a, 0x80})
	f.Fuzz(func(t *testing.T, raw []byte) {
		one, err := decodeFrame(bytes.Clone(raw))
		if err != nil {
			return
		}
		two, err := decodeFrame(one.encode())
		if diff := cmp.Diff(one, two, cmp.AllowUnexported(frame{})); err != nil || diff != "" {
			t.Errorf("%v:\n%s", err, diff)
		}
	})
}
