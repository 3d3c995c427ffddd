package responses

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// responds answers every request with a body.
type responds string

func (r responds) Do(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(r))), Request: req}, nil
}

// TestAsk sends a body to the URL that the library makes of an address.
func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		address           chat.Address
		url, header, want string
	}{
		{chat.Address{URL: "https://a.test/v1", Key: "k"}, "https://a.test/v1/responses", "Authorization", "Bearer k"},
		{chat.Address{URL: "https://r.openai.azure.com", AzureVersion: "2026-01-01", Key: "k"}, "https://r.openai.azure.com/openai/responses?api-version=2026-01-01", "Api-Key", "k"},
	} {
		p := newProtocol(Options{Address: tt.address})
		x := &protocol.Exchange{Body: protocol.Body{Pieces: [][]byte{[]byte("{}")}}, Send: func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if got := req.URL.String(); err != nil || string(body) != "{}" || got != tt.url || req.Header.Get(tt.header) != tt.want {
				t.Errorf("%s with %v and %s, %v", got, req.Header, body, err)
			}
			return responds("data: [DONE]\n\n").Do(req)
		}}
		answer, err := p.Ask(t.Context(), x, model.Request{})
		stdtest.Must(t, err)
		if _, err := answer.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("ended with %v", err)
		}
		answer.Close()
	}
}
