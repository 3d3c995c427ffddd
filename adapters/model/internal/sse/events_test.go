package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func events(r io.Reader) (out []string, err error) {
	e := newEventReader(r)
	for {
		data, err := e.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(data))
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"one", "data: a\n\n", []string{"a"}},
		{"two", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
		{"no space", "data:a\n\n", []string{"a"}},
		{"space is kept but one", "data:  a\n\n", []string{" a"}},
		{"windows lines", "data: a\r\n\r\n", []string{"a"}},
		{"mark", "\uFEFFdata: a\n\n", []string{"a"}},
		{"several lines", "data: a\ndata: b\n\n", []string{"a\nb"}},
		{"empty data", "data\n\ndata:\n\ndata: a\n\n", []string{"a"}},
		{"comments and other fields", ": hi\nevent: x\nid: 1\nretry: 3\ndatax: no\ndata: a\n\n", []string{"a"}},
		{"unclosed", "data: {\"a\":1}", []string{`{"a":1}`}},
		{"unclosed end", "data: [DONE]\n", []string{"[DONE]"}},
		{"unclosed half", "data: {\"a\"", nil},
		{"long", "data: " + long + "\n\ndata: b\n\n", []string{long, "b"}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := events(r)
				if !errors.Is(err, io.EOF) {
					t.Errorf("ended with %v", err)
				}
				stdtest.Diff(t, "events", tt.want, got)
			}
		})
	}
	t.Run("endless", func(t *testing.T) {
		for _, line := range []string{"data: " + strings.Repeat("x", 1<<10), "data: " + strings.Repeat("x", 1<<10) + "\n"} {
			endless := io.LimitReader(&repeat{text: line}, 4*maxEvent)
			if _, err := events(endless); !errors.Is(err, errEventTooLong) {
				t.Errorf("ended with %v", err)
			}
		}
	})
}

// repeat is an endless repetition of a text.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n += c
		r.at = (r.at + c) % len(r.text)
	}
	return n, nil
}
