package provider

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// If a connection breaks after a complete answer, no retry is needed.
func TestRL1CutBehindTheFinishReason(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		reason     model.Reason
	}{
		{"by itself", textPiece + finishPiece, ""},
		{"by itself, and the usage", textPiece + finishPiece + usagePiece, ""},
		{"within the usage", textPiece + finishPiece + usagePiece[:30], ""},
		{"with words", textPiece + wordyPiece, model.ReasonCut},
		{"with words in every piece", wordyPiece + wordyPiece, model.ReasonCut},
		{"words behind it", textPiece + finishPiece + textPiece, model.ReasonCut},
		{"none", textPiece, model.ReasonCut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				body := io.NopCloser(io.MultiReader(strings.NewReader(tt.body), iotest.ErrReader(io.ErrUnexpectedEOF)))
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, Body: body}, nil
			})
			_, finished, err := said(t.Context(), newModel(t, Options{Transport: transport, MaxAttempts: 1}), hello())
			if finished != (tt.reason == "") || tt.reason != "" && model.ReasonOf(err) != tt.reason {
				t.Errorf("finished %t, error %v; want %q", finished, err, tt.reason)
			}
		})
	}
}
