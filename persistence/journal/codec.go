package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// UnknownFact is a fact that this version cannot apply: its kind is unknown, or it has unknown members or members of
// another type. It is written back unchanged, so that data of a newer version is not lost.
type UnknownFact struct {
	Kind string
	// Raw is the JSON object with the fact's own members.
	Raw json.RawMessage
}

func (f UnknownFact) kind() string { return f.Kind }

// errNoRecord is the cause of every error of [ParseRecord].
var errNoRecord = errors.New("not a journal record")

// AppendRecord appends a record as one line of JSON without a newline, `{"n":…,"ts":…,"kind":"…",…}`, and returns the
// extended slice. The order of members is fixed and nothing is escaped for HTML, so that parsing a line and appending
// it again gives the same bytes.
func AppendRecord(dst []byte, r Record) []byte {
	dst = append(dst, `{"n":`...)
	dst = strconv.AppendInt(dst, r.N, 10)
	dst = append(dst, `,"ts":`...)
	dst = strconv.AppendInt(dst, r.TS, 10)
	dst = append(dst, `,"kind":`...)
	switch f := r.Fact.(type) {
	case nil:
		return append(dst, `""}`...)
	case UnknownFact:
		dst = appendJSON(dst, f.Kind)
	default:
		dst = append(append(append(dst, '"'), f.kind()...), '"') // plain letters
	}
	body := len(dst)
	switch f := any(r.Fact).(type) { // any: most kinds are handled alike
	case UnknownFact:
		dst = appendRaw(dst, f.Raw)
	case TurnAccepted: // written directly, because platforms wait for it
		dst = append(uimessage.AppendJSON(append(dst, `{"turn":`...), f.Turn), '}')
	case ToolFinished:
		dst = appendJSON(dst, toolLine{toolMembers: toolMembers(f), Part: part{f.Part}})
	default:
		dst = appendJSON(dst, f)
	}
	return join(dst, body)
}

// join merges the object that begins at body into the unfinished object before it.
func join(dst []byte, body int) []byte {
	if string(dst[body:]) == "{}" {
		return append(dst[:body], '}')
	}
	dst[body] = ','
	return dst
}

// ParseRecord parses what [AppendRecord] wrote. Facts that this version does not fully know are returned as
// [UnknownFact]. The record shares no memory with the line.
func ParseRecord(line []byte) (Record, error) {
	var head struct {
		N    int64   `json:"n"`
		TS   int64   `json:"ts"`
		Kind *string `json:"kind"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	if head.N < 1 || head.Kind == nil {
		return Record{}, fmt.Errorf("%w: without number or kind", errNoRecord)
	}
	body, err := without(line, "n", "ts", "kind")
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", errNoRecord, err)
	}
	fact, ok := parseFact(*head.Kind, body)
	if !ok {
		fact = UnknownFact{Kind: *head.Kind, Raw: body}
	}
	return Record{N: head.N, TS: head.TS, Fact: fact}, nil
}

// parseVia decodes a fact from its written form L. It returns false if there are unknown members or members of another
// type.
func parseVia[L any](body []byte, fact func(L) Fact) (f Fact, ok bool) {
	var line L
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&line); err != nil {
		return nil, false
	}
	f = fact(line)
	about, ok := f.(aboutMessage)
	return f, !ok || about.complete()
}

// toolLine is the written form of ToolFinished.
type toolLine struct {
	toolMembers
	Part part `json:"part"`
}

type toolMembers ToolFinished

func (l toolLine) fact() Fact {
	f := ToolFinished(l.toolMembers)
	f.Part = l.Part.Part
	return f
}

// parts are parts of a message with their JSON.
type parts []uimessage.Part

func (p parts) MarshalJSON() ([]byte, error) { return uimessage.AppendParts(nil, p), nil }

func (p *parts) UnmarshalJSON(data []byte) error {
	var list []part
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*p = nil
	for _, e := range list {
		*p = append(*p, e.Part)
	}
	return nil
}

type part struct{ uimessage.Part }

func (p part) MarshalJSON() ([]byte, error) { return uimessage.AppendPart(nil, p.Part), nil }

func (p *part) UnmarshalJSON(data []byte) (err error) {
	if string(data) == "null" {
		p.Part = nil
		return nil
	}
	p.Part, err = uimessage.DecodePart(data)
	return err
}

// appendJSON appends v as compact JSON without escaping for HTML. The types written here always marshal, because their
// raw values are checked by their codec.
func appendJSON(dst []byte, v any) []byte {
	out, err := plainjson.Append(dst, v)
	if err != nil {
		return append(dst, "{}"...) // Unreachable: every value marshals.
	}
	return out
}

// appendRaw appends a raw object on one line. Anything that is not an object is wrapped in one.
func appendRaw(dst []byte, raw json.RawMessage) []byte {
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(trimmed) == 0:
		return append(dst, "{}"...)
	case trimmed[0] != '{' || !json.Valid(trimmed):
		return appendJSON(dst, map[string]string{"raw": string(raw)})
	}
	buf := bytes.NewBuffer(dst)
	if err := json.Compact(buf, trimmed); err != nil {
		return append(dst, "{}"...) // Unreachable: it was checked above.
	}
	return buf.Bytes()
}

// without returns an object without the named members, in the original order. It compares names like encoding/json,
// ignoring case.
func without(object []byte, names ...string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want an object")
	}
	out := []byte{'{'}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(appendJSON(out, key), ':')
			out = append(out, value...)
		}
	}
	return append(out, '}'), nil
}

// memberOf decodes a member of metadata. One that is missing, or has another format, is the zero value.
func memberOf[T any](meta uimessage.Metadata, name string) T {
	var v, zero T
	for _, m := range meta.Extra {
		if m.Name == name && json.Unmarshal(m.Value, &v) != nil {
			return zero
		}
	}
	return v
}

// withMember returns metadata with the value of a member, or without the member if keep is false.
func withMember[T any](meta uimessage.Metadata, name string, keep bool, v T) uimessage.Metadata {
	meta.Extra = slices.DeleteFunc(slices.Clone(meta.Extra), func(m uimessage.Member) bool { return m.Name == name })
	if keep {
		meta.Extra = append(meta.Extra, uimessage.Member{Name: name, Value: appendJSON(nil, v)})
	}
	return meta
}

// AppendLedgerEntry appends an entry as one line of JSON without a newline.
func AppendLedgerEntry(dst []byte, e LedgerEntry) []byte { return appendJSON(dst, e) }

// ParseLedgerEntry parses what [AppendLedgerEntry] wrote.
func ParseLedgerEntry(line []byte) (LedgerEntry, error) {
	var e LedgerEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return LedgerEntry{}, fmt.Errorf("ledger entry: %w", err)
	}
	if e.N < 1 {
		return LedgerEntry{}, errors.New("ledger entry without a number")
	}
	return e, nil
}
