package mask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func newMask(secrets ...string) *Mask {
	m := &Mask{}
	list := make([]config.Secret, 0, len(secrets))
	for _, s := range secrets {
		list = append(list, config.NewSecret(s))
	}
	m.Set(list...)
	return m
}

func TestSE3MaskTakesSecretsOut(t *testing.T) {
	m := newMask("sk-canary-1", "sk-canary-12345", `with"quote`, `a&"b<c`, "short", "123456", "")
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"nothing", "nothing"},
		{"a sk-canary-12345 b sk-canary-1 c", "a ******** b ******** c"},
		{"sk-canary-1sk-canary-1", "****************"},
		{`{"key":"with\"quote"}`, `{"key":"********"}`},
		{`{"key":"a&\"b<c"}`, `{"key":"********"}`},
		{`{"key":"a\u0026\"b\u003cc"}`, `{"key":"********"}`},
		{"short", "short"},
		{"SK-CANARY-1", "SK-CANARY-1"},
	} {
		if got := m.Text(tt.in); got != tt.want {
			t.Errorf("text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := string(m.Raw(json.RawMessage(`{"n":123456}`))); got != `"{\"n\":********}"` {
		t.Errorf("a number: %s", got)
	}
	var none Mask
	if got := none.Text("x") + string(none.Raw(json.RawMessage("{}"))); got != "x{}" {
		t.Errorf("without secrets: %s", got)
	}
}

// A secret is removed from a stream however it is split into pieces, and nothing else is removed.
func TestSE3MaskTakesSecretsOutOfStreams(t *testing.T) {
	secrets := []string{"sk-canary-1", "sk-canary-12345", "canary-é-字", "aaaaaaab", `with"quote`}
	m := newMask(secrets...)
	parts := append([]string{"sk-canary", "s", "plain words\n", "\xff", "é", "aaaaaaaaa", "canary-", `with\"quote`, "12345"}, secrets...)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "parts"), "")
		var out strings.Builder
		w := m.Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if got, err := w.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", got, n, err)
			}
			rest = rest[n:]
			for _, secret := range secrets {
				if strings.Contains(out.String(), secret) {
					t.Fatalf("%q let %q out: %q", text, secret, out.String())
				}
			}
		}
		stdtest.Must(t, w.Close())
		if want := m.Text(text); out.String() != want {
			t.Fatalf("%q became %q, at once %q", text, out.String(), want)
		}
	})
}

// fixed is a model that always gives the same answer.
type fixed struct {
	events []model.Event
	err    error
}

func (f fixed) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for _, e := range f.events {
			if !yield(e, nil) {
				return
			}
		}
		if f.err != nil {
			yield(model.Event{}, f.err)
		}
	}
}

// FuzzSE3Stream: however an answer is split, no secret passes and everything else does.
func FuzzSE3Stream(f *testing.F) {
	const secret = "sk-aab-sk-aabc"
	f.Add("the key is sk-aab-sk-aabc, yes", uint64(0x5a5a))
	f.Add("sk-aab-sk-aab-sk-aabcsk-", uint64(0xffff))
	f.Add("sk-aab-sk-aabsk-aab-sk-aabc", uint64(0x1111))
	f.Fuzz(func(t *testing.T, text string, cuts uint64) {
		if strings.Contains(text, "*") {
			return
		}
		var pieces []string
		rest := text
		for i := 0; rest != ""; i++ {
			n := min(len(rest), 1+int(cuts>>(i%16*4)&7))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		events := append(modeltest.TextEvents(pieces...), modeltest.CallEvents(modeltest.Call{ID: "c", Name: "t", Input: jsonOf(t, text)})...)
		m := maskedModel{fixed{events: append(events, modeltest.Finish("stop"))}, newMask(secret)}
		var said, input, call strings.Builder
		for e, err := range m.Stream(t.Context(), model.Request{}) {
			stdtest.Must(t, err)
			switch e.Kind {
			case model.EventTextDelta:
				said.WriteString(e.Delta)
			case model.EventToolInputDelta:
				input.WriteString(e.Delta)
			case model.EventToolCall:
				call.WriteString(e.Input)
			default:
			}
		}
		stdtest.Diff(t, fmt.Sprintf("text in %q", pieces), strings.ReplaceAll(text, secret, masked), said.String())
		want := strings.ReplaceAll(jsonOf(t, text), secret, masked)
		if input.String() != want || call.String() != want {
			t.Errorf("input %q, call %q, want %q", input.String(), call.String(), want)
		}
	})
}

func TestSE3ErrorsComeThrough(t *testing.T) {
	gone := errors.New("gone")
	m := maskedModel{fixed{events: modeltest.TextEvents("half"), err: gone}, newMask("sk-canary-1")}
	var got error
	n := 0
	for _, err := range m.Stream(t.Context(), model.Request{}) {
		n++
		got = err
	}
	if !errors.Is(got, gone) || n != 4 {
		t.Errorf("%d events, the last with %v", n, got)
	}
	for _, err := range m.Stream(t.Context(), model.Request{}) {
		if err != nil {
			t.Error(err)
		}
		break // leaves the model's stream as well
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	stdtest.Must(t, err)
	return string(raw)
}
