package frame

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFrame checks that a frame survives encoding and decoding, including unknown fields.
func TestFrame(t *testing.T) {
	want := Frame{
		seq: 1, log: 1 << 60, Service: 33, Method: MethodData, Headers: [][2]string{{"type", "event"}, {"sum", "2"}}, Payload: []byte("{}"),
		rest: []byte("\x32\x04gzip\x4a\x01x"), // fields 6 and 9
	}
	got, err := Decode(want.Encode())
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Frame{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got.number("sum") != 2 || got.number("type") != 0 || got.Header("none") != "" {
		t.Errorf("headers %v", got.Headers)
	}
}

// TestJoin checks that packets may arrive in any order, and invalid ones are dropped.
func TestJoin(t *testing.T) {
	l := NewPieces(1 << 20)
	piece := func(id, sum, seq, text string) ([]byte, bool) {
		return l.Join(Frame{Headers: [][2]string{{"message_id", id}, {"sum", sum}, {"seq", seq}}, Payload: []byte(text)})
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
	f.Add(Frame{seq: 1, Service: 33, Method: 1, Headers: [][2]string{{"type", "event"}}, Payload: []byte("{}")}.Encode())
	f.Add([]byte{0x2a, 0x80})
	f.Fuzz(func(t *testing.T, raw []byte) {
		one, err := Decode(bytes.Clone(raw))
		if err != nil {
			return
		}
		two, err := Decode(one.Encode())
		if diff := cmp.Diff(one, two, cmp.AllowUnexported(Frame{})); err != nil || diff != "" {
			t.Errorf("%v:\n%s", err, diff)
		}
	})
}
