package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

type shortened struct {
	Truncated         bool
	Bytes             int
	Head, Tail, Whole string
	Note              string
}

func TestCapLeavesSmallResults(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"an object":          {`{"a":[1,2]}`, `{"a":[1,2]}`},
		"blanks around":      {" \n{}\n", `{}`},
		"nothing":            {``, `null`},
		"text that is none":  {`plain "words"`, `"plain \"words\""`},
		"bytes that are not": {"\"\xff\"", `"\"\ufffd\""`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tool.Cap{}.Apply(t.Context(), "call", json.RawMessage(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("Apply(%q) = %s, %v; want %s", tt.in, got, err, tt.want)
			}
		})
	}
}

func TestCapShortensLargeResults(t *testing.T) {
	long := strings.Repeat("0123456789", 10_000)
	quoted, err := json.Marshal("<&>" + strings.Repeat("\"\u2028\x01字😀\n", 5_000) + "end")
	stdtest.Must(t, err)
	for name, tt := range map[string]struct {
		in         string
		head, tail string
	}{
		"a string is shown as text":          {`"` + long + `"`, "0123456789", "0123456789"},
		"other values are shown as JSON":     {`{"rows":["` + long + `"]}`, `{"rows":["0123`, `789"]}`},
		"characters that JSON has to escape": {string(quoted), `<&>"` + "\u2028", "\nend"},
	} {
		for _, limit := range []int{0, 1, 2048, 5000} {
			var kept []byte
			c := tool.Cap{Limit: limit, Keep: func(_ context.Context, name string, data []byte) (string, error) {
				kept = data
				return "results/" + name, nil
			}}
			got, err := c.Apply(t.Context(), "call-1", json.RawMessage(tt.in))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var s shortened
			if err := json.Unmarshal(got, &s); err != nil {
				t.Fatalf("%s: the result is no JSON: %v", name, err)
			}
			want := limit
			if limit == 0 {
				want = tool.DefaultLimit
			}
			want = max(want, 1024)
			if len(got) > want || len(got) < want*9/10 {
				t.Errorf("%s: %d bytes, want about and at most %d", name, len(got), want)
			}
			whole := tt.in
			if tt.in[0] == '"' {
				stdtest.Must(t, json.Unmarshal([]byte(tt.in), &whole))
			}
			if string(kept) != whole || s.Bytes != len(whole) || s.Whole != "results/call-1" || !s.Truncated {
				t.Errorf("%s: kept %d bytes as %q, says %d; want %d", name, len(kept), s.Whole, s.Bytes, len(whole))
			}
			if !strings.HasPrefix(whole, s.Head) || !strings.HasSuffix(whole, s.Tail) ||
				!strings.HasPrefix(s.Head, tt.head) || !strings.HasSuffix(s.Tail, tt.tail) {
				t.Errorf("%s: head %.20q or tail %q is not of the whole", name, s.Head, s.Tail[max(0, len(s.Tail)-20):])
			}
		}
	}
}

func TestCapSaysThatTheWholeIsGone(t *testing.T) {
	full := errors.New("disk is full")
	c := tool.Cap{Keep: func(context.Context, string, []byte) (string, error) { return "", full }}
	got, err := c.Apply(t.Context(), "call", json.RawMessage(`"`+strings.Repeat("x", 20_000)+`"`))
	if !errors.Is(err, full) {
		t.Errorf("error = %v, want %v", err, full)
	}
	var s shortened
	stdtest.Must(t, json.Unmarshal(got, &s))
	if s.Whole != "" || !strings.Contains(s.Note, "could not be stored") {
		t.Errorf("result = %+v, want it to say that the rest is gone", s)
	}
}

func FuzzCap(f *testing.F) {
	f.Add([]byte(`{"a":"b"}`), 3000)
	f.Add([]byte("\"\xf0\x9f\x98\x80\u2028\""), 1)
	f.Fuzz(func(t *testing.T, unit []byte, limit int) {
		in := []byte(strings.Repeat(string(unit), 1+5000/(len(unit)+1)))
		limit %= 1 << 16
		got, err := tool.Cap{Limit: limit}.Apply(t.Context(), "call", in)
		if err != nil || !json.Valid(got) {
			t.Fatalf("Apply = %.100s, %v", got, err)
		}
		if bound := max(limit, 1024); limit > 0 && len(got) > bound {
			t.Errorf("%d bytes, at most %d allowed", len(got), bound)
		}
		again, err := tool.Cap{Limit: limit}.Apply(t.Context(), "call", got)
		if diff := cmp.Diff(string(got), string(again)); diff != "" || err != nil {
			t.Errorf("a capped result changes when it is capped again: %s %v", diff, err)
		}
	})
}
