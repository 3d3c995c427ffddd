package ogg_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/ogg"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
)

const continues = 0x01

func TestLength(t *testing.T) {
	for _, n := range []int{0, 1, 49, 50, 51, 1000} {
		got, err := ogg.Length(bytes.NewReader(speechtest.Voice(n)))
		if want := time.Duration(n) * 20 * time.Millisecond; got != want || err != nil {
			t.Errorf("%d packets: %v, %v, want %v", n, got, err, want)
		}
	}
}

// A wrong clock does not shorten a stream.
func TestLengthDoesNotBelieveTheClock(t *testing.T) {
	data := speechtest.Voice(500)
	last := bytes.LastIndex(data, []byte("OggS"))
	copy(data[last+6:last+14], make([]byte, 8))
	if got, err := ogg.Length(bytes.NewReader(data)); got != 10*time.Second || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// Streams may follow each other, and packets may span pages.
func TestLengthOfOddStreams(t *testing.T) {
	chained := append(speechtest.Voice(50), speechtest.Voice(25)...)
	if got, err := ogg.Length(bytes.NewReader(chained)); got != 1500*time.Millisecond || err != nil {
		t.Errorf("chained: %v, %v", got, err)
	}
	page := func(flags byte, table []byte, body []byte) []byte {
		head := make([]byte, 27)
		copy(head, "OggS")
		head[5], head[26] = flags, byte(len(table))
		return append(append(head, table...), body...)
	}
	begin := speechtest.Voice(0)
	long := append([]byte{0x18}, bytes.Repeat([]byte{7}, 599)...) // one frame of 60 ms
	two := append(append(bytes.Clone(begin), page(0, []byte{255}, long[:255])...), page(continues, []byte{255, 90}, long[255:])...)
	if got, err := ogg.Length(bytes.NewReader(two)); got != 60*time.Millisecond || err != nil {
		t.Errorf("over two pages: %v, %v", got, err)
	}
	many := append(bytes.Clone(begin), page(0, []byte{2}, []byte{0xe3, 0x03})...) // three frames of 2.5 ms
	if got, err := ogg.Length(bytes.NewReader(many)); got != 7500*time.Microsecond || err != nil {
		t.Errorf("three frames: %v, %v", got, err)
	}
}

func TestLengthRefuses(t *testing.T) {
	whole := speechtest.Voice(60)
	for i := range whole {
		got, err := ogg.Length(bytes.NewReader(whole[:i]))
		if err == nil && got >= 1200*time.Millisecond || err != nil && !errors.Is(err, ogg.ErrNotOpus) {
			t.Fatalf("cut at %d: %v, %v", i, got, err)
		}
	}
	vorbis := bytes.Replace(whole, []byte("OpusHead"), []byte("\x01vorbis\x00"), 1)
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("hello"), "vorbis": vorbis, "zeros": make([]byte, 1000), "behind": append(bytes.Clone(whole), "rest"...),
	} {
		if _, err := ogg.Length(bytes.NewReader(data)); !errors.Is(err, ogg.ErrNotOpus) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any input is measured or refused, and no byte plays longer than Opus permits.
func FuzzLength(f *testing.F) {
	f.Add(speechtest.Voice(3))
	f.Add(speechtest.Voice(60))
	f.Add([]byte("OggS"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ogg.Length(bytes.NewReader(data))
		if err != nil && got != 0 || got < 0 || got > time.Duration(len(data))*63*60*time.Millisecond {
			t.Errorf("%d bytes: %v, %v", len(data), got, err)
		}
	})
}
