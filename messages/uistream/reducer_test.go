package uistream_test

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

func TestSnapshotsShareNothing(t *testing.T) {
	r := uistream.NewWriter(nil, "m")
	var shots []uimessage.Message
	var lines []string
	for i := range 200 {
		for _, c := range []uistream.Chunk{
			uistream.TextStart{ID: "t"},
			uistream.TextDelta{ID: "t", Delta: strings.Repeat("x", i)},
			uistream.ToolInputStart{ToolCallID: "c", ToolName: "x"},
			uistream.ToolInputDelta{ToolCallID: "c", Delta: `{"a":"`},
		} {
			if _, err := r.Apply(c); err != nil {
				t.Fatal(err)
			}
			shots = append(shots, r.Snapshot())
			lines = append(lines, string(uimessage.AppendJSON(nil, shots[len(shots)-1])))
		}
	}
	for i, m := range shots {
		if got := string(uimessage.AppendJSON(nil, m)); got != lines[i] {
			t.Fatalf("snapshot %d changed: got %s, was %s", i, got, lines[i])
		}
	}
}

func TestContinuedMessageIsNotChanged(t *testing.T) {
	stored, err := uimessage.Decode([]byte(`{"id":"a","role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"approval-responded","input":{},"approval":{"id":"p","approved":true}}],"metadata":{"n":1}}`))
	stdtest.Must(t, err)
	before := string(uimessage.AppendJSON(nil, stored))
	r := uistream.NewWriter(&stored, "other")
	if !applyAll(r, []uistream.Chunk{
		uistream.Start{Metadata: []byte(`{"n":2}`)},
		uistream.ToolOutputAvailable{ToolCallID: "c", Output: []byte(`"done"`)},
	}) {
		t.Fatal("a chunk was refused")
	}
	if got := string(uimessage.AppendJSON(nil, stored)); got != before {
		t.Errorf("the stored message changed: %s", got)
	}
	want := `{"id":"a","role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"output-available","input":{},"approval":{"id":"p","approved":true},"output":"done"}],"metadata":{"n":2}}`
	if got := string(uimessage.AppendJSON(nil, r.Message())); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFirstErrorEndsTheStream(t *testing.T) {
	tests := []struct {
		name  string
		chunk uistream.Chunk
	}{
		{"text delta", uistream.TextDelta{ID: "q"}},
		{"text end", uistream.TextEnd{ID: "q"}},
		{"reasoning of a text's id", uistream.ReasoningDelta{ID: "t"}},
		{"input delta", uistream.ToolInputDelta{ToolCallID: "q"}},
		{"output", uistream.ToolOutputAvailable{ToolCallID: "q"}},
		{"output error", uistream.ToolOutputError{ToolCallID: "q"}},
		{"denial", uistream.ToolOutputDenied{ToolCallID: "q"}},
		{"approval", uistream.ToolApprovalRequest{ToolCallID: "q"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := uistream.NewWriter(nil, "m")
			if !applyAll(r, []uistream.Chunk{uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "a"}}) {
				t.Fatal("a chunk was refused")
			}
			before := r.Snapshot()
			_, first := r.Apply(tt.chunk)
			fault, ok := errors.AsType[*uistream.StreamError](first)
			if !ok || fault.ChunkType != tt.chunk.Type() {
				t.Fatalf("got error %v, want a StreamError about %s", first, tt.chunk.Type())
			}
			if changed, err := r.Apply(uistream.TextDelta{ID: "t", Delta: "b"}); changed || !errors.Is(err, first) {
				t.Errorf("after the error: changed %t, error %v", changed, err)
			}
			if diff := cmp.Diff(before, r.Snapshot()); diff != "" {
				t.Errorf("the message changed:\n%s", diff)
			}
		})
	}
}

func TestMetadataThatIsNoObject(t *testing.T) {
	r := uistream.NewWriter(nil, "m")
	if !applyAll(r, []uistream.Chunk{uistream.MessageMetadata{Metadata: []byte(`[1,"b"]`)}, uistream.MessageMetadata{Metadata: []byte(`{"0":2}`)}}) {
		t.Fatal("a chunk was refused")
	}
	if got, want := string(r.Message().Metadata), `{"0":2,"1":"b"}`; got != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	r = uistream.NewWriter(nil, "m")
	_, _ = r.Apply(uistream.MessageMetadata{Metadata: []byte(`5`)})
	if _, err := r.Apply(uistream.MessageMetadata{Metadata: []byte(`{"a":1}`)}); !errors.Is(err, uistream.ErrMetadata) {
		t.Errorf("got error %v, want ErrMetadata", err)
	}
}

func TestChunkCodec(t *testing.T) {
	for _, line := range []string{
		`{"type":"start","messageId":"m","messageMetadata":{"a":1},"later":true}`,
		`{"type":"text-delta","id":"t","delta":"<b>\u0001 日本","providerMetadata":null}`,
		`{"type":"tool-input-available","toolCallId":"c","toolName":"x","input":null,"providerExecuted":false,"dynamic":true,"title":""}`,
		`{"type":"abort","reason":"stopped"}`, `{"type":"data-","data":[1.0]}`, `{"type":"later-kind","x":[]}`, `{"x":1}`,
	} {
		c, err := uistream.DecodeChunk([]byte(line))
		if err != nil {
			t.Errorf("DecodeChunk(%s): %v", line, err)
			continue
		}
		if got := string(uistream.AppendJSON(nil, c)); got != line {
			t.Errorf("got %s, want %s", got, line)
		}
	}
	for in, path := range map[string]string{
		`{`: "", `[]`: "", `{"type":"text-delta","id":"t"}`: "delta", `{"type":"tool-input-delta","toolCallId":1}`: "toolCallId",
		`{"type":"start","messageId":7}`: "messageId", `{"type":"data-x","transient":"yes"}`: "transient",
	} {
		_, err := uistream.DecodeChunk([]byte(in))
		if fault, ok := errors.AsType[*uimessage.DecodeError](err); !ok || fault.Path != path {
			t.Errorf("DecodeChunk(%s): got %v, want a fault at %q", in, err, path)
		}
	}
}

func TestSetHeadersKeepsWhatIsThere(t *testing.T) {
	h := http.Header{}
	h.Set("cache-control", "no-store")
	uistream.SetHeaders(h)
	if h.Get("Cache-Control") != "no-store" || h.Get("X-Vercel-AI-UI-Message-Stream") != "v1" {
		t.Errorf("headers %v", h)
	}
}

// reducerWith is a reducer whose message has so many parts, the last an open text.
func reducerWith(tb testing.TB, parts int) *uistream.Reducer {
	tb.Helper()
	r := uistream.NewWriter(nil, "m")
	for i := range parts {
		id := fmt.Sprint(i)
		if !applyAll(r, []uistream.Chunk{uistream.StartStep{}, uistream.TextStart{ID: id}, uistream.TextDelta{ID: id, Delta: "said"}, uistream.TextEnd{ID: id}, uistream.FinishStep{}}) {
			tb.Fatal("a chunk was refused")
		}
	}
	if !applyAll(r, []uistream.Chunk{uistream.StartStep{}, uistream.TextStart{ID: "t"}}) {
		tb.Fatal("a chunk was refused")
	}
	return r
}

// What a delta allocates does not grow with the message, neither in number nor
// in bytes, and neither does looking at the message.
func TestReduceCostDoesNotGrow(t *testing.T) {
	cost := func(parts int) (allocs float64, bytes uint64) {
		r := reducerWith(t, parts)
		delta := uistream.Chunk(uistream.TextDelta{ID: "t", Delta: "x"})
		step := func() {
			if _, err := r.Apply(delta); err != nil {
				t.Fatal(err)
			}
			if m := r.Message(); m.ID != "m" {
				t.Fatal("no message")
			}
		}
		const rounds = 2000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			step()
		}
		runtime.ReadMemStats(&after)
		return testing.AllocsPerRun(500, step), (after.TotalAlloc - before.TotalAlloc) / rounds
	}
	fewAllocs, fewBytes := cost(10)
	manyAllocs, manyBytes := cost(1000)
	if manyAllocs > fewAllocs+1 || manyBytes > 2*fewBytes+256 {
		t.Errorf("a delta costs %.0f allocations, %d bytes in a long message; %.0f and %d in a short one", manyAllocs, manyBytes, fewAllocs, fewBytes)
	}
}

func BenchmarkReduceChunk(b *testing.B) {
	for _, parts := range []int{10, 1000} {
		for _, look := range []bool{false, true} {
			b.Run(fmt.Sprintf("parts=%d/look=%t", parts, look), func(b *testing.B) {
				r := reducerWith(b, parts)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Apply(uistream.TextDelta{ID: "t", Delta: "word "}); err != nil {
						b.Fatal(err)
					}
					if look {
						_ = r.Message()
					}
				}
			})
		}
	}
}

func BenchmarkReduceToolCall(b *testing.B) {
	r := reducerWith(b, 100)
	b.ReportAllocs()
	for b.Loop() {
		if !applyAll(r, []uistream.Chunk{
			uistream.StartStep{},
			uistream.ToolInputStart{ToolCallID: "c", ToolName: "x"},
			uistream.ToolInputDelta{ToolCallID: "c", Delta: `{"a":`},
			uistream.ToolInputDelta{ToolCallID: "c", Delta: `1}`},
			uistream.ToolInputAvailable{ToolCallID: "c", ToolName: "x", Input: []byte(`{"a":1}`)},
			uistream.ToolOutputAvailable{ToolCallID: "c", Output: []byte(`1`)},
			uistream.FinishStep{},
		}) {
			b.Fatal("a chunk was refused")
		}
	}
}

func BenchmarkAppendEvent(b *testing.B) {
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		buf = uistream.AppendEvent(buf[:0], uistream.TextDelta{ID: "t", Delta: "word "})
	}
}

func FuzzReducer(f *testing.F) {
	for _, v := range vectors(f) {
		var lines []string
		for _, raw := range v.Chunks {
			lines = append(lines, string(raw))
		}
		f.Add(string(v.Message), strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, message, lines string) {
		var stored *uimessage.Message
		if m, err := uimessage.Decode([]byte(message)); err == nil {
			stored = &m
		}
		reader, writer := uistream.NewReader(stored), uistream.NewWriter(stored, "new")
		for line := range strings.SplitSeq(lines, "\n") {
			c, err := uistream.DecodeChunk([]byte(line))
			if err != nil {
				continue
			}
			wrote := uistream.AppendJSON(nil, c)
			again, err := uistream.DecodeChunk(wrote)
			if err != nil || string(uistream.AppendJSON(nil, again)) != string(wrote) {
				t.Fatalf("chunk is not stable: %s (%v)", wrote, err)
			}
			for _, r := range []*uistream.Reducer{reader, writer} {
				_, _ = r.Apply(c)
				stable(t, r.Message())
			}
		}
		late := uistream.NewReader(nil)
		if !applyAll(late, reader.Replay()) {
			t.Fatal("replay does not apply")
		}
	})
}

func stable(t *testing.T, m uimessage.Message) {
	t.Helper()
	line := uimessage.AppendJSON(nil, m)
	again, err := uimessage.Decode(line)
	if err != nil {
		t.Fatalf("message cannot be read again: %v in %s", err, line)
	}
	if got := uimessage.AppendJSON(nil, again); string(got) != string(line) {
		t.Fatalf("message is not stable: %s, was %s", got, line)
	}
}

func FuzzRepairJSON(f *testing.F) {
	for _, seed := range []string{"", `{"a":"x\u00e9`, `[1,{"b":[tru`, `{"a":-`, `[1é`, `{"__proto__":1}`, `nulx`, `"\ud83d\ude`, `{"a":1 "b"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, state := uistream.RepairJSON(text)
		if (value == nil) != (state == uistream.ParseFailed) {
			t.Fatalf("value %s in state %s", value, state)
		}
		if value == nil {
			return
		}
		again, state := uistream.RepairJSON(string(value))
		if state != uistream.ParseSuccessful || string(again) != string(value) {
			t.Fatalf("%q became %s, then %s (%s)", text, value, again, state)
		}
	})
}
