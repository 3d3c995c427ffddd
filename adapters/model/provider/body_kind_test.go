package provider

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// The body itself shows its kind, because proxies send arbitrary content types.
func TestBodiesOfAnotherKind(t *testing.T) {
	piece := modeltest.Delta(`{"content":"Hello "}`, "")
	stream := modeltest.Events(piece, modeltest.Delta(`{"content":"you"}`, "stop"), "[DONE]").Body
	whole := `{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello you"},"finish_reason":"stop"}]}`
	for _, tt := range []struct {
		name, kind, body, want string
		reason                 model.Reason
	}{
		{"a stream called JSON", "application/json", stream, "Hello you", ""},
		{"with a comment first", "application/json", ": waiting\n\n" + stream, "Hello you", ""},
		{"behind empty lines", "application/json", "\r\n\r\n" + stream, "Hello you", ""},
		{"an object called a stream", "text/event-stream", whole, "Hello you", ""},
		{"without a type", "", "\n" + whole, "Hello you", ""},
		{"an object a line", "application/x-ndjson", piece + "\n" + modeltest.Delta(`{"content":"you"}`, "stop") + "\n", "Hello you", ""},
		{"an object a line, cut", "application/x-ndjson", piece + "\n", "Hello ", model.ReasonCut},
		{"half an object", "application/json", whole[:60], "", model.ReasonCut},
		{"an error called a stream", "text/event-stream", `{"error":{"message":"bad","type":"authentication_error"}}`, "", model.ReasonAuth},
		{"JSON of another kind called a stream", "text/event-stream", `{"ok":true}`, "", model.ReasonAddress},
		{"nothing", "application/json", "", "", model.ReasonCut},
		{"empty lines", "text/event-stream", "\n\n", "", model.ReasonCut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				header := http.Header{"Content-Type": {tt.kind}}
				return &http.Response{StatusCode: 200, Header: header, Request: r, Body: io.NopCloser(strings.NewReader(tt.body))}, nil
			})
			text, finished, err := said(t.Context(), newModel(t, Options{Transport: transport, MaxAttempts: 1}), hello())
			if text != tt.want || finished != (tt.reason == "") || tt.reason != "" && model.ReasonOf(err) != tt.reason {
				t.Errorf("%q, finished %t, error %v; want %q, %q", text, finished, err, tt.want, tt.reason)
			}
		})
	}
}
