package uistream_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// vector is a stream of the conformance vectors.
type vector struct {
	Name    string            `json:"name"`
	Message json.RawMessage   `json:"message"`
	Chunks  []json.RawMessage `json:"chunks"`
}

func vectors(tb testing.TB) []vector {
	tb.Helper()
	paths, err := filepath.Glob("../testdata/conformance/stream/*.json")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no vectors: %v", err)
	}
	var all []vector
	for _, path := range paths {
		raw := stdtest.Read(tb, path)
		var file struct {
			Cases []vector `json:"cases"`
		}
		stdtest.Must(tb, json.Unmarshal(raw, &file))
		all = append(all, file.Cases...)
	}
	return all
}

func decodeChunks(tb testing.TB, raws []json.RawMessage) []uistream.Chunk {
	tb.Helper()
	chunks := make([]uistream.Chunk, len(raws))
	for i, raw := range raws {
		var err error
		if chunks[i], err = uistream.DecodeChunk(raw); err != nil {
			tb.Fatal(err)
		}
	}
	return chunks
}

// A reader who comes in after any chunk and gets the replay sees the same message
// then, and the same one at the end.
func TestReplayAtEveryCut(t *testing.T) {
	for _, v := range vectors(t) {
		if v.Message != nil {
			continue // A continued message may hold what the stream cannot say.
		}
		t.Run(v.Name, func(t *testing.T) {
			chunks := decodeChunks(t, v.Chunks)
			for cut := range chunks {
				live := uistream.NewWriter(nil, "")
				if !applyAll(live, chunks[:cut]) {
					return
				}
				late := uistream.NewReader(nil)
				if !applyAll(late, live.Replay()) {
					t.Fatalf("after %d chunks: replay does not apply", cut)
				}
				compare(t, cut, live, late)
				if applyAll(live, chunks[cut:]) && applyAll(late, startsCut(chunks[cut:])) {
					compare(t, len(chunks), live, late)
				}
			}
		})
	}
}

// startsCut leaves out starts: a reader begins anew at one with another id.
func startsCut(chunks []uistream.Chunk) []uistream.Chunk {
	var rest []uistream.Chunk
	for _, c := range chunks {
		if s, ok := c.(uistream.Start); ok {
			c = uistream.MessageMetadata{Metadata: s.Metadata}
		}
		rest = append(rest, c)
	}
	return rest
}

func applyAll(r *uistream.Reducer, chunks []uistream.Chunk) bool {
	for _, c := range chunks {
		if _, err := r.Apply(c); err != nil {
			return false
		}
	}
	return true
}

func compare(t *testing.T, cut int, live, late *uistream.Reducer) {
	t.Helper()
	want, got := live.Snapshot(), late.Snapshot()
	want.ID, got.ID = "", ""
	if diff := cmp.Diff(toAny(t, want), toAny(t, got)); diff != "" {
		t.Errorf("after %d chunks: live and late differ:\n%s", cut, diff)
	}
}

func toAny(t *testing.T, m uimessage.Message) any {
	t.Helper()
	var v any
	stdtest.Must(t, json.Unmarshal(uimessage.AppendJSON(nil, m), &v))
	return v
}

// Replay of a stored message rebuilds it, with every kind of part.
func TestReplayOfStoredMessage(t *testing.T) {
	line := `{"id":"a","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","id":"r","text":"why","state":"done","providerMetadata":{"p":{}}},` +
		`{"type":"text","text":"hi","state":"done"},{"type":"tool-x","toolCallId":"c1","state":"output-available","title":"T","toolMetadata":{"i":1},"providerExecuted":true,"input":{},"callProviderMetadata":{"p":{"c":1}},"output":1,"preliminary":true,"resultProviderMetadata":{"p":{"r":1}}},` +
		`{"type":"dynamic-tool","toolName":"s:t","toolCallId":"c2","state":"output-error","input":{"a":1},"errorText":"e"},` +
		`{"type":"tool-x","toolCallId":"c3","state":"output-error","title":"T","rawInput":"{","callProviderMetadata":{"p":{"c":1}},"errorText":"e","resultProviderMetadata":{"p":{"r":1}}},` +
		`{"type":"tool-x","toolCallId":"c4","state":"approval-requested","input":{},"approval":{"id":"q","signature":"s","descriptor":{},"inputSchemaInput":{}}},` +
		`{"type":"tool-x","toolCallId":"c5","state":"output-denied","input":{},"approval":{"id":"q"}},` +
		`{"type":"source-url","sourceId":"s","url":"u","title":"t"},{"type":"source-document","sourceId":"s","mediaType":"m","title":"t","filename":"f"},{"type":"file","mediaType":"m","url":"u"},` +
		`{"type":"data-n","id":"1","data":{"a":1}},{"type":"step-start"},{"type":"text","text":"more","state":"streaming"},{"type":"tool-x","toolCallId":"c6","state":"input-streaming","input":{"a":"b"},"rawInput":"{\"a\":\"b"}],"metadata":{"seq":1}}`
	m, err := uimessage.Decode([]byte(line))
	stdtest.Must(t, err)
	r := uistream.NewReader(nil)
	if !applyAll(r, uistream.Replay(m)) {
		t.Fatal("a chunk was refused")
	}
	if got := string(uimessage.AppendJSON(nil, r.Message())); got != line {
		t.Errorf("rebuilt\n got %s\nwant %s", got, line)
	}
}
