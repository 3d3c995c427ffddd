package linefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Region is an unreadable piece of a file.
type Region struct {
	Off, N int64
	Why    string // the kind of damage
	// hole is set if it contains NUL bytes or padding, as where a disk lost its blocks.
	hole bool
}

// The kinds of damage.
const (
	WhyTorn     = "torn tail"
	whyNUL      = "run of NUL bytes"
	WhyGlued    = "damaged or glued lines"
	whySum      = "checksum does not match"
	whyNoRecord = "no record of this file"
)

// whyNot says what is wrong with a line that is one JSON document but not a record.
func whyNot(line []byte) string {
	if _, s := recordSeal(line); s == broken || turnSeal(line) == broken {
		return whySum
	}
	return whyNoRecord
}

// Found is the result of reading a file of lines.
type Found struct {
	Bad []Region // in the order of the file, without Torn
	// Size is the file's end without its torn tail.
	Size int64
	// Torn is the region after Size; N is 0 if there is none.
	Torn Region
	// Open is set if the last line has no newline.
	Open bool
	// begins is the offset of the last intact line that does not start with a joint, or -1.
	begins int64
}

// Joint starts a line that was written before the line in front of it was fsynced: a power cut may
// lose either of them without the other.
const Joint = ' '

// Padding fills the space that a file has in advance, after its last line. Lines are written over it,
// so where a power cut lost a part of one, there are gaps of padding.
const Padding = ' '

// gap is how much padding in a damaged line means that a part of the line was lost.
const gap = 64

// unsynced finds the start of a hole that a power cut may have left in data without an fsync: no
// later line was written after an fsync. Nothing from there on was acknowledged.
func (s Found) unsynced() (off int64, found bool) {
	for _, r := range s.Bad {
		if r.hole && r.Off > s.begins {
			return r.Off, true
		}
	}
	return 0, false
}

// ScanEnded scans the whole of a file whose writer may have been killed: data that starts with an
// unsynced hole is a torn tail.
func ScanEnded(size int64, reset func(), lines func(end int64) (Found, error)) (Found, error) {
	found, err := lines(size)
	if err != nil {
		return found, err
	}
	off, torn := found.unsynced()
	if !torn {
		return found, nil
	}
	reset()
	found, err = lines(off)
	found.Torn = Region{Off: found.Size, N: size - found.Size, Why: WhyTorn, hole: true}
	return found, err
}

// ScanFile scans the whole of a file; ended means that its writer may have been killed.
func ScanFile(file io.ReaderAt, size int64, ended bool, r Reader) (Found, error) {
	lines := func(end int64) (Found, error) { return Scan(file, 0, end, r.Take) }
	if !ended || r.Reset == nil {
		return lines(size)
	}
	return ScanEnded(size, r.Reset, lines)
}

// Take is called with each intact record in the order of the file. It must not retain raw. It
// reports whether raw is a record; if strict, the record needs a valid checksum.
type Take func(off int64, raw []byte, strict bool) bool

// Reader collects the records of one file. Reset makes it forget them; it is nil for a file that is
// known to be durable.
type Reader struct {
	Take  Take
	Reset func()
}

// Scan reads the lines of a file from begin, the start of a line, to end. It passes everything
// intact to take; the result has the rest, except blank lines.
func Scan(file io.ReaderAt, begin, end int64, take Take) (Found, error) {
	s := Found{Size: end, begins: -1}
	lines := newLineReader(file, begin, end)
	for {
		line, off, ended, err := lines.next()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return Found{}, err
		}
		s.line(line, off, ended, take)
	}
}

func (s *Found) line(line []byte, off int64, ended bool, take Take) {
	length := int64(len(line))
	plain := bytes.TrimRight(line, string(Padding))
	end := off + int64(len(plain))
	if Blank(plain) {
		if !ended {
			s.Size = end
		}
		return
	}
	plain = bytes.TrimLeft(plain, string(Joint))
	at := end - int64(len(plain))
	if take(at, plain, false) {
		if s.Open = !ended; s.Open {
			s.Size = end
		}
		if at == off {
			s.begins = off
		}
		return
	}
	bad := salvage(line, off, take)
	for i, r := range bad {
		lost := bytes.Contains(line[r.Off-off:][:r.N], bytes.Repeat([]byte{Padding}, gap)) || i == 0 && at-off > 1
		bad[i].hole = r.hole || lost
	}
	if ended {
		s.Bad = append(s.Bad, bad...)
		return
	}
	// The file ends within this line: cut it after its last intact record.
	end = off + length
	if k := len(bad); k > 0 && bad[k-1].Off+bad[k-1].N == end {
		s.Torn, bad = bad[k-1], bad[:k-1]
		s.Torn.Why = WhyTorn
		end = s.Torn.Off
	}
	s.Bad = append(s.Bad, bad...)
	s.Size, s.Open = end, end > off
}

// Blank reports whether a line has only white space as defined by JSON; other white space may be
// data.
func Blank(line []byte) bool { return len(bytes.TrimLeft(line, " \t\r\n")) == 0 }

// salvage extracts the records from a line that is not a record and returns the rest: half a line
// joined to a whole one, lines without newlines, runs of NUL where a disk lost its blocks.
func salvage(line []byte, off int64, take Take) []Region {
	w := salvager{take: take, budget: 16*len(line) + 1<<16}
	if json.Valid(line) {
		// One document that was changed. What looks like a record inside of it is its contents.
		return []Region{{Off: off, N: int64(len(line)), Why: whyNot(line)}}
	}
	for len(line) > 0 {
		n := bytes.IndexByte(line, 0)
		if n < 0 {
			n = len(line)
		}
		if n > 0 {
			w.piece(line[:n], off)
		}
		run := len(line) - n - len(bytes.TrimLeft(line[n:], "\x00"))
		w.reject(off+int64(n), int64(run), whyNUL)
		if run > 0 {
			w.bad[len(w.bad)-1].hole = true
		}
		line, off = line[n+run:], off+int64(n+run)
	}
	return w.bad
}

// salvager looks for records in damaged data.
type salvager struct {
	take   Take
	bad    []Region
	budget int // bytes that may still be parsed without success
}

// reject adds a region, merging it with an adjacent one.
func (w *salvager) reject(off, n int64, why string) {
	if n == 0 {
		return
	}
	if k := len(w.bad); k > 0 && w.bad[k-1].Off+w.bad[k-1].N == off {
		w.bad[k-1].N += n
		return
	}
	w.bad = append(w.bad, Region{Off: off, N: n, Why: why})
}

// piece extracts the records from bytes without NUL.
func (w *salvager) piece(b []byte, off int64) {
	done, at := 0, 0 // everything before done is handled
	for at < len(b) && w.budget > 0 {
		n := candidate(b[at:], at == done)
		if n < 0 {
			break
		}
		at += n
		end := w.record(b, done, at, off)
		if end < 0 {
			at++
			continue
		}
		w.rejectText(b[done:at], off+int64(done), WhyGlued)
		done, at = end, end
	}
	w.rejectText(b[done:], off+int64(done), WhyGlued)
}

func (w *salvager) rejectText(b []byte, off int64, why string) {
	if !Blank(b) {
		w.reject(off, int64(len(b)), why)
	}
}

// candidate finds where the next record may start: at the first byte of b if fresh, and at any text
// that starts like a line of the store.
func candidate(b []byte, fresh bool) int {
	if fresh {
		if n := len(b) - len(bytes.TrimLeft(b, " \t\r")); n < len(b) && b[n] == '{' {
			return n
		}
	}
	for at := 0; ; at++ {
		n := bytes.Index(b[at:], []byte(`{"`))
		if n < 0 {
			return -1
		}
		at += n
		for _, member := range []string{`id":`, `n":`, `gen":`} { // of a turn; a fact or ledger entry; the meta's log
			if bytes.HasPrefix(b[at+2:], []byte(member)) {
				return at
			}
		}
	}
}

// record extracts the record at b[at] and returns its end, or -1.
func (w *salvager) record(b []byte, done, at int, off int64) int {
	dec := json.NewDecoder(bytes.NewReader(b[at:]))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			w.budget -= int(syntax.Offset)
		} else {
			w.budget -= len(b) - at
		}
		return -1
	}
	end := at + int(dec.InputOffset())
	w.budget -= len(raw)
	whole := Blank(b[end:]) || b[end] == '{'
	if !whole && within(b[done:at]) {
		return -1
	}
	// Without a checksum, only a complete line counts as a record.
	strict := !whole || !Blank(b[done:at])
	if !w.take(off+int64(at), raw, strict) {
		return -1
	}
	return end
}

// within reports whether what follows head is a value inside another document rather than the start
// of a line.
func within(head []byte) bool {
	head = bytes.TrimRight(head, " \t\r")
	return len(head) > 0 && bytes.IndexByte([]byte(":,["), head[len(head)-1]) >= 0
}
