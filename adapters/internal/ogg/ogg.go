// Package ogg measures voice messages: Opus in Ogg, as chat platforms send and accept it. The files
// are untrusted: the only thing believed is what a decoder would play, and processing costs no more
// than reading the file once.
package ogg

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// ErrNotOpus means that the bytes are not a complete stream of Opus in Ogg.
var ErrNotOpus = errors.New("no Opus in Ogg")

const (
	headerSize = 27 // of a page, without its table
	atStart    = 0x02
	continues  = 0x01
	// The beginnings of the first two packets of a stream.
	magicHead, magicTags = "OpusHead", "OpusTags"
)

// Length returns the playing time of a stream: the sum of its packets, regardless of its clock. If
// the stream is cut off in the middle of a page, or not Opus, the error is [ErrNotOpus].
func Length(r io.Reader) (time.Duration, error) {
	p := parser{in: bufio.NewReaderSize(r, 64<<10)}
	for {
		err := p.page()
		switch {
		case errors.Is(err, io.EOF) && p.pages > 0 && p.packets >= 2:
			return p.length, nil
		case err != nil:
			return 0, ErrNotOpus
		}
	}
}

// parser iterates over pages.
type parser struct {
	in      *bufio.Reader
	pages   int
	packets int // of the current stream; the first two are its head and its tags
	within  bool
	begin   [len(magicHead)]byte // of the current packet
	have    int
	length  time.Duration
}

// page reads one page, or returns io.EOF after the last.
func (p *parser) page() error {
	var head [headerSize]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF
		}
		return ErrNotOpus
	}
	if string(head[:4]) != "OggS" || head[4] != 0 {
		return ErrNotOpus
	}
	flags := head[5]
	if flags&atStart != 0 { // another stream may follow the first
		p.packets, p.within = 0, false
	} else if p.pages == 0 {
		return ErrNotOpus
	}
	if flags&continues == 0 {
		p.within = false
	}
	p.pages++
	table := make([]byte, int(head[26]))
	if _, err := io.ReadFull(p.in, table); err != nil {
		return ErrNotOpus
	}
	for _, n := range table {
		if err := p.segment(int(n)); err != nil {
			return err
		}
	}
	return nil
}

// segment reads a piece of a packet; a piece shorter than 255 bytes ends it.
func (p *parser) segment(n int) error {
	if !p.within {
		p.within, p.have = true, 0
	}
	kept := min(n, len(p.begin)-p.have)
	if _, err := io.ReadFull(p.in, p.begin[p.have:p.have+kept]); err != nil {
		return ErrNotOpus
	}
	p.have += kept
	if _, err := p.in.Discard(n - kept); err != nil {
		return ErrNotOpus
	}
	if n == 255 {
		return nil
	}
	p.within = false
	return p.packet(p.begin[:p.have])
}

// packet handles a complete packet, given its first bytes.
func (p *parser) packet(begin []byte) error {
	p.packets++
	switch {
	case p.packets == 1 && string(begin) != magicHead, p.packets == 2 && string(begin) != magicTags:
		return ErrNotOpus
	case p.packets > 2:
		p.length += playing(begin)
	}
	return nil
}

// playing returns the playing time of a packet of Opus, given its first bytes (RFC 6716, 3.1).
func playing(begin []byte) time.Duration {
	if len(begin) == 0 {
		return 0
	}
	config, frames := begin[0]>>3, 2
	switch begin[0] & 3 {
	case 0:
		frames = 1
	case 3:
		if len(begin) < 2 {
			return 0
		}
		frames = int(begin[1] & 0x3f)
	}
	var frame time.Duration
	switch {
	case config < 12: // speech
		frame = []time.Duration{10, 20, 40, 60}[config%4] * time.Millisecond
	case config < 16: // both
		frame = []time.Duration{10, 20}[config%2] * time.Millisecond
	default: // music
		frame = []time.Duration{2500, 5000, 10000, 20000}[config%4] * time.Microsecond
	}
	return time.Duration(frames) * frame
}
