package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const embedKey = "sk-embedding-key-canary"

func newEmbedder(t *testing.T, url, key string) provider.Embedder {
	t.Helper()
	e, err := provider.NewEmbedder(provider.Endpoint{BaseURL: url, APIKey: provider.Secret(key), Model: "embed-small"}, provider.NewTransport(), nil)
	stdtest.Must(t, err)
	return e
}

func TestEmbed(t *testing.T) {
	meanings := modeltest.NewMeanings([]string{"tea", "cha"})
	s := modeltest.NewServer(modeltest.NewScript(), modeltest.ServerOptions{Key: embedKey, Embedder: meanings})
	t.Cleanup(s.Close)
	texts := []string{"tea", "coffee at nine", "茶\nand <more> & \"quotes\""}
	got, err := newEmbedder(t, s.URL, embedKey).Embed(t.Context(), model.Payer{}, texts)
	stdtest.Must(t, err)
	want, err := meanings.Embed(t.Context(), model.Payer{}, texts)
	stdtest.Must(t, err)
	stdtest.Diff(t, "vectors", want, got)
	stdtest.Diff(t, "texts as the provider got them", texts, meanings.Calls()[0])
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("a strict provider refuses it: %v", faults)
	}
}

// A failure is an error with a reason, and contains no key.
func TestEmbedFails(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, body)
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    model.Reason
	}{
		{"a refused key", answer(401, `{"error":{"message":"Incorrect API key provided: `+embedKey+`"}}`), model.ReasonAuth},
		{"no such model", answer(404, `{"error":{"message":"the model does not exist","code":"model_not_found"}}`), model.ReasonNotFound},
		{"too many", answer(429, `{"error":{"message":"slow down"}}`), model.ReasonRate},
		{"a page", answer(502, `<html>Bad gateway</html>`), model.ReasonOverloaded},
		{"elsewhere", answer(302, ""), model.ReasonInternal},
		{"no JSON", answer(200, `<html>`+embedKey), model.ReasonAddress},
		{"cut off", answer(200, `{"data":[{"index":0,"embed`), model.ReasonCut},
		{"too few", answer(200, `{"data":[{"index":0,"embedding":[1]}]}`), model.ReasonCut},
		{"the same twice", answer(200, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`), model.ReasonCut},
		{"one too many", answer(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`), model.ReasonCut},
		{"of two lengths", answer(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`), model.ReasonCut},
		{"nowhere", answer(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[0]}]}`), model.ReasonCut},
		{"broken off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, model.ReasonNetwork},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(tt.handler)
			defer s.Close()
			vectors, err := newEmbedder(t, s.URL, embedKey).Embed(t.Context(), model.Payer{}, []string{"a", "b"})
			failed, ok := errors.AsType[*model.Error](err)
			if !ok || vectors != nil || tt.want != model.ReasonInternal && failed.Reason != tt.want {
				t.Fatalf("Embed = %v, %v; want reason %s", vectors, err, tt.want)
			}
			if strings.Contains(err.Error(), embedKey) {
				t.Errorf("the error holds the key: %v", err)
			}
		})
	}
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	if _, err := newEmbedder(t, s.URL, embedKey).Embed(t.Context(), model.Payer{}, []string{"a"}); model.ReasonOf(err) != model.ReasonNetwork {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := provider.NewEmbedder(provider.Endpoint{BaseURL: "ftp://x", Model: "m"}, nil, nil); err == nil {
		t.Error("an embedder of an address that is none")
	}
}

// A call to a silent provider lasts as long as the caller's context.
func TestEmbedEndsWithItsContext(t *testing.T) {
	asked := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(asked)
		<-r.Context().Done()
	}))
	defer s.Close()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		cancel(enough)
	}()
	if _, err := newEmbedder(t, s.URL, embedKey).Embed(ctx, model.Payer{}, []string{"a"}); !errors.Is(err, enough) {
		t.Errorf("Embed = %v, want what ended it", err)
	}
}
