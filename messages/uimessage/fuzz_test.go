package uimessage_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func FuzzDecode(f *testing.F) {
	for _, line := range lines {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"role":"user","parts":[{"type":"text","text":"\ud83d\ude00\ud83d"}],"a\u0000b":{"\u0061":[ 1e400 , -0 ]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := uimessage.Decode(data)
		if err != nil {
			if !errors.Is(err, uimessage.ErrInvalid) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted what is no JSON: %q", data)
		}
		line := uimessage.AppendJSON(nil, m)
		if !json.Valid(line) || strings.ContainsRune(string(line), '\n') {
			t.Fatalf("not one line of JSON: %q", line)
		}
		again, err := uimessage.Decode(line)
		if err != nil {
			t.Fatalf("cannot be read again: %v in %s", err, line)
		}
		if got := uimessage.AppendJSON(nil, again); string(got) != string(line) {
			t.Fatalf("not stable: %s, was %s", got, line)
		}
		_, _ = uimessage.Validate(append(append([]byte{'['}, data...), ']'))
	})
}

func FuzzDecodeMetadata(f *testing.F) {
	f.Add([]byte(`{"ts":1,"seq":2,"sourceRange":{"count":1},"fates":[{"id":"a","fate":"merged","step":2}],"usage":{"inputTokens":1},"demo":true,"x":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, _ := uimessage.DecodeMetadata(data)
		line := m.Append(nil)
		again, _ := uimessage.DecodeMetadata(line)
		if got := again.Append(nil); !json.Valid(line) || string(got) != string(line) {
			t.Fatalf("not stable: %s, was %s", got, line)
		}
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	m, err := uimessage.Decode([]byte(lines[3]))
	stdtest.Must(b, err)
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	b.SetBytes(int64(len(lines[3])))
	for b.Loop() {
		buf = uimessage.AppendJSON(buf[:0], m)
	}
}

func BenchmarkDecode(b *testing.B) {
	line := []byte(lines[3])
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := uimessage.Decode(line); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	m, err := uimessage.Decode([]byte(lines[3]))
	stdtest.Must(t, err)
	buf := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { buf = uimessage.AppendJSON(buf[:0], m) }); n > 0 {
		t.Errorf("appending into a large enough buffer allocates %.0f times", n)
	}
}
