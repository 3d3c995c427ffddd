package provider

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Every request for vectors is reserved with an estimate and settled with what the service says, or with the estimate
// if it says nothing. One that a limit refuses is not sent; one that was not sent, or that the service refused, costs
// nothing.
func TestEmbeddingsAreMetered(t *testing.T) {
	const vector = `"data":[{"index":0,"embedding":[1,2]}]`
	estimate := Use{Input: 5, NanoUSD: 5 * 20}
	for _, tt := range []struct {
		name   string
		answer wired
		admits int
		reason model.Reason
		want   []Use
	}{
		{"counted", wired{status: 200, pieces: []string{`{` + vector + `,"usage":{"prompt_tokens":3,"total_tokens":3}}`}}, 1, "", []Use{{Input: 3, NanoUSD: 60}}},
		{"only the total", wired{status: 200, pieces: []string{`{` + vector + `,"usage":{"total_tokens":4}}`}}, 1, "", []Use{{Input: 4, NanoUSD: 80}}},
		{"not counted", wired{status: 200, pieces: []string{`{` + vector + `}`}}, 1, "", []Use{estimate}},
		{"cut off", wired{status: 200, pieces: []string{`{"da`}, cut: true}, 1, model.ReasonCut, []Use{estimate}},
		{"without vectors", wired{status: 200, pieces: []string{`{"data":[],"usage":{"prompt_tokens":3}}`}}, 1, model.ReasonCut, []Use{{Input: 3, NanoUSD: 60}}},
		{"refused", wired{status: 400, pieces: []string{saysNo}}, 1, model.ReasonBadRequest, []Use{{}}},
		{"never sent", wired{unsent: true}, 1, model.ReasonNetwork, []Use{{}}},
		{"silent", wired{status: 200, hangs: true}, 1, "", []Use{estimate}},
		{"at a limit", wired{}, 0, model.ReasonBudget("runTokens", false), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, w := &book{admits: tt.admits}, &wire{answers: []wired{tt.answer}}
			cost := func(input, _, _, output int64) int64 { return 20*input + 1000*output }
			e, err := NewEmbedder(Endpoint{BaseURL: "http://127.0.0.1:1/v1", Model: "model-e", Cost: cost}, w, b)
			stdtest.Must(t, err)
			ctx := t.Context()
			if tt.answer.hangs {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
			}
			_, err = e.Embed(ctx, model.Payer{Chat: "web-chat-1"}, []string{"0123456789"})
			if tt.reason != "" && model.ReasonOf(err) != tt.reason || (err == nil) != (tt.reason == "" && !tt.answer.hangs) {
				t.Errorf("the error is %v, want %q", err, tt.reason)
			}
			if diff := cmp.Diff(tt.want, b.used); diff != "" || b.open != 0 || len(b.most) != tt.admits || tt.admits > 0 && b.most[0] != estimate || w.calls != tt.admits {
				t.Errorf("reserved %+v, %d open, %d sent, settled (-want +got):\n%s", b.most, b.open, w.calls, diff)
			}
		})
	}
}
