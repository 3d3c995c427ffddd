package provider

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func seed(f *testing.F, add func(stream []byte)) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "streams", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no streams: %v", err)
	}
	for _, file := range files {
		b := stdtest.Read(f, file)
		add(txtar.Parse(b).Files[0].Data)
	}
}

// FuzzStream parses arbitrary bytes as an answer and checks what a chat relies on: blocks open and
// close in order, calls are announced before they are made, ids are unique, nothing follows the
// finish.
func FuzzStream(f *testing.F) {
	apis := []API{APIChat, APIMessages, APIResponses}
	seed(f, func(stream []byte) {
		for i := range apis {
			f.Add(stream, i == 0, uint8(i))
			f.Add(stream, false, uint8(i))
		}
	})
	f.Fuzz(func(t *testing.T, stream []byte, exact bool, api uint8) {
		e := Endpoint{API: apis[int(api)%len(apis)], Model: "m"}
		m, err := New(Options{Endpoint: e, Exact: exact, MaxAttempts: 1, Transport: answers{status: 200, body: string(stream)}})
		stdtest.Must(t, err)
		check := wellFormed{open: map[string]bool{}, called: map[string]bool{}}
		for e, err := range m.Stream(t.Context(), hello()) {
			if check.ended {
				t.Fatalf("%v behind the end", e.Kind)
			}
			if err != nil {
				if _, ok := errors.AsType[*model.Error](err); !ok {
					t.Fatalf("untyped error %v", err)
				}
				check.ended = true
				continue
			}
			check.event(t, e, exact)
		}
		if !check.ended {
			t.Fatal("neither finish nor error")
		}
	})
}

type wellFormed struct {
	open, called map[string]bool
	ended        bool
}

func (w *wellFormed) event(t *testing.T, e model.Event, exact bool) {
	t.Helper()
	if e.Raw != nil && !json.Valid(e.Raw) || e.ProviderMetadata != nil && !json.Valid(e.ProviderMetadata) {
		t.Fatalf("%s holds no JSON", e.Kind)
	}
	switch e.Kind {
	case model.EventTextStart, model.EventReasoningStart, model.EventToolInputStart:
		if w.open[e.ID] && !exact {
			t.Fatalf("%s of %q twice", e.Kind, e.ID)
		}
		w.open[e.ID] = true
	case model.EventTextDelta, model.EventReasoningDelta, model.EventToolInputDelta:
		if !w.open[e.ID] && !exact {
			t.Fatalf("%s of %q that is not open", e.Kind, e.ID)
		}
	case model.EventTextEnd, model.EventReasoningEnd, model.EventToolInputEnd:
		delete(w.open, e.ID)
	case model.EventToolCall:
		if w.called[e.ID] && !exact || e.ToolName == "" {
			t.Fatalf("call %q of %q twice or nameless", e.ID, e.ToolName)
		}
		w.called[e.ID] = true
	case model.EventFinish:
		w.ended = true
		if len(w.open) > 0 && !exact {
			t.Fatalf("finished with %v open", w.open)
		}
	default:
	}
}
