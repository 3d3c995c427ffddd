package rawjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrInvalid is the sentinel under every error about a document that cannot be read.
var ErrInvalid = errors.New("invalid document")

// Fault says where a document is malformed. It unwraps to ErrInvalid.
type Fault struct {
	// Path leads to the fault, as in `parts[2].toolCallId`; empty is the document itself.
	Path string
	// Reason is what was expected there.
	Reason string
}

// Error implements error. It quotes nothing of the document's contents.
func (e *Fault) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%v: %s", ErrInvalid, e.Reason)
	}
	return fmt.Sprintf("%v: %s: %s", ErrInvalid, e.Path, e.Reason)
}

// Unwrap implements the errors package's protocol.
func (e *Fault) Unwrap() error { return ErrInvalid }

// Member is a member of a JSON object that is kept as it is.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Optional is a value that may be absent. The zero value is absent.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Get returns the value and whether it is present.
func (o Optional[T]) Get() (T, bool) { return o.Value, o.Set }

// Or returns the value, or def if it is absent.
func (o Optional[T]) Or(def T) T {
	if o.Set {
		return o.Value
	}
	return def
}

// Writer appends the members of an object to Buf.
type Writer struct {
	Buf []byte
}

// Open returns the writer of an object that begins at the end of dst. Close ends it.
func Open(dst []byte) Writer { return Writer{Buf: append(dst, '{')} }

// Close ends the object and returns all that was written.
func (w *Writer) Close() []byte { return append(w.Buf, '}') }

// Key starts a member whose name needs no escaping; its value must follow.
func (w *Writer) Key(name string) {
	w.Next()
	w.Buf = append(w.Buf, '"')
	w.Buf = append(w.Buf, name...)
	w.Buf = append(w.Buf, '"', ':')
}

// OpenList starts an array and CloseList ends it.
func (w *Writer) OpenList() { w.Buf = append(w.Buf, '[') }

// CloseList ends the array that OpenList started.
func (w *Writer) CloseList() { w.Buf = append(w.Buf, ']') }

// Next separates a member or an element from the one before it, if there is one.
func (w *Writer) Next() {
	if last := w.Buf[len(w.Buf)-1]; last != '{' && last != '[' {
		w.Buf = append(w.Buf, ',')
	}
}

// Str writes a string member.
func (w *Writer) Str(name, v string) {
	w.Key(name)
	w.Buf = AppendString(w.Buf, v)
}

// NonEmpty writes a string member unless it is empty.
func (w *Writer) NonEmpty(name, v string) {
	if v != "" {
		w.Str(name, v)
	}
}

// Opt writes a string member if it is present.
func (w *Writer) Opt(name string, v Optional[string]) {
	if v.Set {
		w.Str(name, v.Value)
	}
}

// Flag writes a truth value if it is present.
func (w *Writer) Flag(name string, v Optional[bool]) {
	if v.Set {
		w.Bool(name, v.Value)
	}
}

// Bool writes a truth value.
func (w *Writer) Bool(name string, v bool) {
	w.Key(name)
	w.Buf = strconv.AppendBool(w.Buf, v)
}

// True writes a truth value if it is true.
func (w *Writer) True(name string, v bool) {
	if v {
		w.Bool(name, v)
	}
}

// Int writes a number.
func (w *Writer) Int(name string, n int64) {
	w.Key(name)
	w.Buf = strconv.AppendInt(w.Buf, n, 10)
}

// NonZero writes a number unless it is zero.
func (w *Writer) NonZero(name string, n int64) {
	if n != 0 {
		w.Int(name, n)
	}
}

// Raw writes a raw value unless it is absent.
func (w *Writer) Raw(name string, v json.RawMessage) {
	if len(v) > 0 {
		w.Key(name)
		w.Buf = Append(w.Buf, v)
	}
}

// Members writes members that were kept.
func (w *Writer) Members(list []Member) {
	for _, m := range list {
		w.Next()
		w.Buf = AppendString(w.Buf, m.Name)
		w.Buf = append(w.Buf, ':')
		if len(m.Value) == 0 {
			w.Buf = append(w.Buf, "null"...)
			continue
		}
		w.Buf = Append(w.Buf, m.Value)
	}
}

// AppendObject appends the object that has these members.
func AppendObject(dst []byte, members []Member) []byte {
	w := Open(dst)
	w.Members(members)
	return w.Close()
}

// Reader decodes members below a path and keeps the first fault.
type Reader struct {
	Path string
	Err  error
}

// Fail notes a fault, unless there is one already.
func (r *Reader) Fail(name, reason string) {
	if r.Err == nil {
		r.Err = &Fault{Path: Join(r.Path, name), Reason: reason}
	}
}

// Object reports whether v is an object, and notes a fault if it is not.
func (r *Reader) Object(v []byte) bool {
	if KindOf(v) != Object {
		r.Fail("", "want an object")
		return false
	}
	return true
}

// Array reports whether the value of a member is an array, and notes a fault if it is not.
func (r *Reader) Array(name string, v []byte) bool {
	if KindOf(v) != Array {
		r.Fail(name, "want an array")
		return false
	}
	return true
}

// Inside notes a fault that was found in the value of a member, if err is one.
func (r *Reader) Inside(name string, err error) {
	if err != nil && r.Err == nil {
		r.Err = Within(Join(r.Path, name), err)
	}
}

// Need notes a missing member.
func (r *Reader) Need(ok bool, name string) {
	if !ok {
		r.Fail(name, "is missing")
	}
}

// Str reads a string that must be one.
func (r *Reader) Str(name string, v []byte, to *string) {
	s, ok := Unquote(v)
	if !ok {
		r.Fail(name, "want a string")
		return
	}
	*to = s
}

// StrOrNull reads an optional string that may be empty; null is kept in extra.
func (r *Reader) StrOrNull(extra *[]Member, k, v []byte, to *string) {
	if KindOf(v) == Null {
		Extra(extra, k, v)
		return
	}
	r.Str(string(k), v, to)
}

// Opt reads an optional string; null is kept in extra.
func (r *Reader) Opt(extra *[]Member, k, v []byte, to *Optional[string]) {
	if KindOf(v) == Null {
		Extra(extra, k, v)
		return
	}
	r.Str(string(k), v, &to.Value)
	to.Set = true
}

// Flag reads an optional truth value; null is kept in extra.
func (r *Reader) Flag(extra *[]Member, k, v []byte, to *Optional[bool]) {
	switch KindOf(v) {
	case Null:
		Extra(extra, k, v)
	case Bool:
		*to = Optional[bool]{Value: v[0] == 't', Set: true}
	default:
		r.Fail(string(k), "want true or false")
	}
}

// Bool reads an optional truth value that is false when absent; null is kept in extra.
func (r *Reader) Bool(extra *[]Member, k, v []byte, to *bool) {
	var flag Optional[bool]
	if r.Flag(extra, k, v, &flag); flag.Set {
		*to = flag.Value
	}
}

// Int reads a whole number that fits.
func (r *Reader) Int(name string, v []byte, to *int64) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		r.Fail(name, "want a whole number")
		return
	}
	*to = n
}

// Extra keeps a member as it is, unless list is nil.
func Extra(list *[]Member, k, v []byte) {
	if list == nil {
		return
	}
	*list = append(*list, Member{Name: string(k), Value: Compact(v)})
}

// Index is the path of an element.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Join is the path of a member.
func Join(path, name string) string {
	switch {
	case name == "":
		return path
	case path == "":
		return name
	case strings.HasPrefix(name, "["):
		return path + name
	default:
		return path + "." + name
	}
}

// Within puts a path in front of a fault's own.
func Within(path string, err error) error {
	e, ok := errors.AsType[*Fault](err)
	switch {
	case !ok:
		return err
	case e.Path == "":
		return &Fault{Path: path, Reason: e.Reason}
	default:
		return &Fault{Path: Join(path, e.Path), Reason: e.Reason}
	}
}
