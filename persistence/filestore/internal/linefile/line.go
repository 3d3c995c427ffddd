package linefile

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"strconv"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A sealed line ends with a checksum: the CRC-32C of the line itself, computed with zeros in place
// of its eight digits. Lines of journal, ledger and meta end in `,"sum":"8 hex"}`. Those of a
// history end in `"seq":n,"sum":"8 hex"}}`, the end of the metadata, which is the last member.
const (
	sumKey   = `"sum":"`
	sumZeros = "00000000"
	sumSize  = len(sumZeros)
	recTail  = `"}`
	turnTail = `"}}`
	seqKey   = `"seq":`
)

// seal is the state of a line's checksum.
type seal int

const (
	unsealed seal = iota // a foreign line
	sealed               // written by the store and intact
	broken               // written by the store and changed since
)

func crc(b ...[]byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := uint32(0)
	for _, part := range b {
		sum = crc32.Update(sum, table, part)
	}
	return sum
}

// AppendSealed appends the line that write appends, an object with at least one member, with a
// checksum and a newline.
func AppendSealed(dst []byte, write func([]byte) []byte) []byte {
	start := len(dst)
	dst = write(dst)
	dst = append(dst[:len(dst)-1], ","+sumKey+sumZeros+recTail...)
	setSum(dst[start:], len(recTail))
	return append(dst, '\n')
}

// setSum fills in the checksum of a line whose digits are zeros and precede tail bytes.
func setSum(line []byte, tail int) {
	at := len(line) - tail - sumSize
	putHex(line[at:], crc(line))
}

func putHex(dst []byte, sum uint32) {
	const digits = "0123456789abcdef"
	for i := range sumSize {
		dst[i] = digits[sum>>(28-4*i)&15]
	}
}

// checkSum verifies a line that ends in key, eight digits and tail.
func checkSum(line []byte, tail int) bool {
	at := len(line) - tail - sumSize
	var want [sumSize]byte
	putHex(want[:], crc(line[:at], []byte(sumZeros), line[at+sumSize:]))
	return bytes.Equal(want[:], line[at:at+sumSize])
}

// recordSeal checks a line of journal, ledger or meta and returns the object without its checksum.
func recordSeal(line []byte) (object []byte, s seal) {
	line = bytes.TrimRight(line, " \t\r")
	at := len(line) - len(`,`+sumKey+sumZeros+recTail)
	if at < 1 || !looksSealed(line[at+1:], recTail) || line[at] != ',' {
		return line, unsealed
	}
	if string(line[at+1:at+1+len(sumKey)]) != sumKey || !checkSum(line, len(recTail)) {
		return line, broken
	}
	return append(line[:at:at], '}'), sealed
}

// Object returns the object of a line of journal, ledger or meta, with or without a checksum.
// intact is false if there is a checksum that does not match.
func Object(line []byte) (object []byte, intact bool) {
	object, s := recordSeal(line)
	return object, s != broken
}

// looksSealed reports whether b has the form of a checksum member up to its last brace, even if a
// letter of its name or a digit has changed.
func looksSealed(b []byte, tail string) bool {
	return len(b) == len(sumKey)+sumSize+len(tail) && b[0] == '"' && string(b[4:len(sumKey)]) == `":"` &&
		string(b[len(b)-len(tail):]) == tail
}

// ParseRecord reads a line of the journal; ok is false if it is damaged. If strict, only sealed
// lines are accepted.
func ParseRecord(line []byte, strict bool) (r journal.Record, ok bool) {
	object, ok := Unseal(line, strict)
	if !ok {
		return r, false
	}
	r, err := journal.ParseRecord(object)
	return r, err == nil
}

// ParseEntry reads a line of the ledger, with the rules of [ParseRecord].
func ParseEntry(line []byte, strict bool) (e journal.LedgerEntry, ok bool) {
	object, ok := Unseal(line, strict)
	if !ok {
		return e, false
	}
	e, err := journal.ParseLedgerEntry(object)
	return e, err == nil
}

// Unseal returns the object of a line of journal, ledger or meta; ok is false if the line is
// damaged, or strict and not sealed.
func Unseal(line []byte, strict bool) (object []byte, ok bool) {
	object, s := recordSeal(line)
	return object, s == sealed || s == unsealed && !strict && !hasSum(object)
}

// hasSum reports whether an object has a checksum member, which only the store writes, at another
// position.
func hasSum(object []byte) bool {
	var with struct {
		Sum json.RawMessage `json:"sum"`
	}
	return json.Unmarshal(object, &with) == nil && with.Sum != nil
}

// AppendRecord appends a record as a sealed line of a journal, with a newline.
func AppendRecord(dst []byte, r journal.Record) []byte {
	return AppendSealed(dst, func(b []byte) []byte { return journal.AppendRecord(b, r) })
}

// AppendEntry appends an entry as a sealed line of a ledger, with a newline.
func AppendEntry(dst []byte, e journal.LedgerEntry) []byte {
	return AppendSealed(dst, func(b []byte) []byte { return journal.AppendLedgerEntry(b, e) })
}

// AppendTurn appends a message as a sealed line of a history, with a newline. Metadata that is an
// object gets the arrival number, or 0, as its last member before the checksum; other metadata
// leaves the line unsealed.
func AppendTurn(dst []byte, m uimessage.Message) []byte {
	start := len(dst)
	plain := m.Metadata
	m.Metadata = numbered(plain)
	dst = appendValid(dst, m)
	if tail := sumKey + sumZeros + turnTail; bytes.HasSuffix(dst[start:], []byte(tail)) {
		setSum(dst[start:], len(turnTail))
		return append(dst, '\n')
	}
	m.Metadata = plain
	return append(appendValid(dst[:start], m), '\n')
}

// appendValid appends a message as JSON in UTF-8. Invalid bytes, which raw values may contain, are
// replaced like every reader does.
func appendValid(dst []byte, m uimessage.Message) []byte {
	start := len(dst)
	dst = uimessage.AppendJSON(dst, m)
	if utf8.Valid(dst[start:]) {
		return dst
	}
	return append(dst[:start], bytes.ToValidUTF8(dst[start:], []byte("\uFFFD"))...)
}

// numbered is metadata that ends in its arrival number and an empty checksum.
func numbered(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if raw[0] != '{' || raw[len(raw)-1] != '}' {
		return nil
	}
	open := bytes.TrimRight(raw[:len(raw)-1], " \t\r\n")
	_, _, ok := trailingSeq(open)
	if !ok {
		if meta, err := uimessage.DecodeMetadata(raw); err == nil && meta.Seq > 0 {
			raw = meta.Append(nil) // with the number as its last member
			open = raw[:len(raw)-1]
			_, _, ok = trailingSeq(open)
		}
	}
	out := make([]byte, 0, len(open)+len(seqKey)+len(sumKey)+sumSize+8)
	out = append(out, open...)
	if !ok {
		if len(open) > 1 {
			out = append(out, ',')
		}
		out = append(out, seqKey+"0"...)
	}
	return append(out, ","+sumKey+sumZeros+recTail...)
}

// trailingSeq finds `"seq":n` at the end of an unclosed object: its number and the position of the
// member.
func trailingSeq(open []byte) (n int64, at int, ok bool) {
	end := len(open)
	for end > 0 && open[end-1] >= '0' && open[end-1] <= '9' {
		end--
	}
	head, found := bytes.CutSuffix(open[:end], []byte(seqKey))
	if !found || len(head) == 0 || head[len(head)-1] != ',' && head[len(head)-1] != '{' {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(string(open[end:]), 10, 64)
	return n, len(head), err == nil
}

// turnSeal checks a line of a history.
func turnSeal(line []byte) seal {
	line = bytes.TrimRight(line, " \t\r")
	at := len(line) - len(`,`+sumKey+sumZeros+turnTail)
	if at < 1 || line[at] != ',' || !looksSealed(line[at+1:], turnTail) {
		return unsealed
	}
	exact := string(line[at+1:at+1+len(sumKey)]) == sumKey
	_, _, numbered := trailingSeq(line[:at])
	switch {
	case !exact && !numbered:
		return unsealed
	case exact && numbered && checkSum(line, len(turnTail)):
		return sealed
	default:
		return broken
	}
}

// ParseTurn reads a line of a history and strips its checksum; ok is false if the line is damaged
// or not a turn. If strict, only sealed lines are accepted.
func ParseTurn(line []byte, strict bool) (m uimessage.Message, ok bool) {
	s := turnSeal(line)
	if s == broken || strict && s != sealed || !utf8.Valid(line) {
		return m, false
	}
	m, err := uimessage.Decode(line)
	if err != nil || m.ID == "" || m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant {
		return uimessage.Message{}, false
	}
	if s == sealed {
		m.Metadata, ok = stripped(m.Metadata)
		return m, ok
	}
	return m, !halfSealed(m.Metadata)
}

// stripped removes the checksum, and an arrival number that is only a placeholder.
func stripped(raw []byte) (meta []byte, ok bool) {
	end := len(raw) - len(","+sumKey+sumZeros+recTail)
	if end < 1 {
		return nil, false // the checksum was not that of the metadata
	}
	n, at, ok := trailingSeq(raw[:end])
	switch {
	case !ok:
		return nil, false
	case n > 0:
		return append(raw[:end:end], '}'), true
	case at == 1:
		return nil, true
	default:
		return append(raw[:at-1:at-1], '}'), true
	}
}

// halfSealed reports whether metadata of an unsealed line has a number or a checksum, which only
// the store writes.
func halfSealed(raw []byte) bool {
	meta, _ := uimessage.DecodeMetadata(raw) // unknown members are in Extra
	if meta.Seq != 0 {
		return true
	}
	for _, m := range meta.Extra {
		if m.Name == "sum" || m.Name == "seq" {
			return true
		}
	}
	return false
}
