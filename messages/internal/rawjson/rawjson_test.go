package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembersAndElements(t *testing.T) {
	var got []string
	for k, v := range Members([]byte(` { "a" : 1 , "\u0062" : {"x":[1,"}"]} , "a":"\"" } `)) {
		got = append(got, string(k)+"="+string(v))
	}
	if diff := cmp.Diff(got, []string{"a=1", `b={"x":[1,"}"]}`, `a="\""`}); diff != "" {
		t.Errorf("members: -got +want\n%s", diff)
	}
	got = nil
	for _, v := range Elements([]byte("[ 1 ,\n[2,[]], \"a,]\" , {} ]")) {
		got = append(got, string(v))
	}
	if diff := cmp.Diff(got, []string{"1", "[2,[]]", `"a,]"`, "{}"}); diff != "" {
		t.Errorf("elements: -got +want\n%s", diff)
	}
	for range Members([]byte(`[1]`)) {
		t.Error("an array has no members")
	}
	for range Elements([]byte(`{"a":1}`)) {
		t.Error("an object has no elements")
	}
	if v, ok := Lookup([]byte(`{"a":1,"b":2,"a":3}`), "a"); !ok || string(v) != "3" {
		t.Errorf("Lookup: %s, %t; the last member counts", v, ok)
	}
}

func TestKindOf(t *testing.T) {
	for text, want := range map[string]Kind{"": None, " ": None, " null": Null, "true": Bool, "-1": Number, `"x"`: String, "[]": Array, "{}": Object} {
		if got := KindOf([]byte(text)); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", text, got, want)
		}
	}
}

// equal reports whether two valid values are the same for encoding/json.
func equal(a, b []byte) bool {
	read := func(text []byte) (v any, err error) {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber() // a number may be too large for a float
		err = dec.Decode(&v)
		return v, err
	}
	x, err := read(a)
	y, other := read(b)
	return err == nil && other == nil && reflect.DeepEqual(x, y)
}

func TestDepthIsBounded(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	if err := Check([]byte(deep)); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Errorf("got error %v, want one about the depth", err)
	}
	if err := Check([]byte(deep[1 : len(deep)-1])); err != nil {
		t.Errorf("depth %d is refused: %v", maxDepth, err)
	}
}

func TestWithinJoinsPaths(t *testing.T) {
	err := Within("[1]", Within(Index("parts", 2), &Fault{Path: "text", Reason: "is missing"}))
	fault, ok := errors.AsType[*Fault](err)
	if !ok || fault.Path != "[1].parts[2].text" || !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if other := errors.New("other"); !errors.Is(Within("x", other), other) {
		t.Error("another error is lost")
	}
}

// The strict reader takes exactly what the standard library takes, strings decode
// to the same text, and layout is all that compacting changes.
func FuzzAgainstStandardLibrary(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,true,null],"b":"\ud83d\ude00\ud83d\n\/ é"}`, ` [ ] `, `"\u00`, `{"a":1,}`, `01`, `-`, `1.`, `1e`, `tru`, "\"\x01\"", "\"\xff\"", `"\x"`, `{} {}`, ``, strings.Repeat("8", 400),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := []byte(text)
		if got, want := Check(b) == nil, json.Valid(b); got != want {
			t.Fatalf("Check(%q) is %t, the standard library says %t", text, got, want)
		}
		var quoted string
		if err := json.Unmarshal(AppendString(nil, text), &quoted); err != nil || quoted != strings.ToValidUTF8(text, "\uFFFD") && !strings.Contains(quoted, "\uFFFD") {
			t.Fatalf("AppendString(%q) reads back as %q (%v)", text, quoted, err)
		}
		if !json.Valid(b) {
			return
		}
		if compact := Append(nil, b); !equal(compact, b) || strings.ContainsAny(string(compact), "\n\r\t") {
			t.Fatalf("Append(%q) = %q", text, compact)
		}
		var want string
		if KindOf(b) == String && json.Unmarshal(b, &want) == nil {
			if got, ok := Unquote([]byte(strings.TrimSpace(text))); !ok || got != want {
				t.Fatalf("Unquote(%q) = %q, want %q", text, got, want)
			}
		}
	})
}
