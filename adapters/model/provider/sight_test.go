package provider

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestSettingsSayWhatIsShown(t *testing.T) {
	s := newSight(Settings{NoImages: true})
	if s.Takes("image/jpeg", "x") || !s.Takes(messages.MimePDF, "x") || !s.Takes(messages.MimeText, "x") {
		t.Error("the settings are not obeyed")
	}
	if s := newSight(Settings{}); !s.Takes("image/jpeg", "x") || !s.Takes(messages.MimePDF, "x") {
		t.Error("a model about which nothing is known is not tried")
	}
}

// A refusal for another reason than the files costs one more try each time, and the files are shown
// again once that reason is gone.
func TestFilesAreNotBlamedForOtherFaults(t *testing.T) {
	var broken atomic.Bool
	var asked, shown atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked.Add(1)
		if containsAny(string(body), "data:image/jpeg") {
			shown.Add(1)
		}
		if broken.Load() {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"invalid tool schema"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	m, err := New(Options{
		Endpoint: Endpoint{BaseURL: server.URL, Model: "m"},
		Load:     func(context.Context, string) ([]byte, error) { return []byte("\xff\xd8\xff"), nil },
	})
	stdtest.Must(t, err)
	picture := messages.Picture{Path: "results/c/picture-1.jpg", Mime: "image/jpeg"}
	req := model.Request{Memo: &model.Memo{}, Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.Text{Text: "look"}, modelmessage.File{MediaType: "image/jpeg", Data: picture.Link("c"), ProviderOptions: messages.NoteOptions("[a picture]")},
	}}}}
	ask := func() (failed error) {
		for _, err := range m.Stream(t.Context(), req) {
			if err != nil {
				failed = err
			}
		}
		return failed
	}
	broken.Store(true)
	if err := ask(); model.ReasonOf(err) != model.ReasonBadRequest || asked.Load() != 2 || shown.Load() != 1 {
		t.Errorf("%v after %d requests, %d with the picture", err, asked.Load(), shown.Load())
	}
	broken.Store(false)
	if err := ask(); err != nil || shown.Load() != 2 {
		t.Errorf("%v, %d requests with the picture, want 2", err, shown.Load())
	}
}

// Calls that a model refuses at the same time, for the same reason, are all answered.
func TestRefusedAtTheSameTime(t *testing.T) {
	thinking := hello()
	thinking.Effort = "high"
	for _, tt := range []struct {
		name, refused, message string
		req                    model.Request
	}{
		{"a picture", "data:image/jpeg", "this model does not support image input", model.Request{Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
			modelmessage.Text{Text: "what is this?"}, modelmessage.File{MediaType: "image/jpeg", Data: messages.Picture{Path: "results/c/picture-1.jpg", Mime: "image/jpeg"}.Link("c")},
		}}}}},
		{"an effort", "reasoning_effort", "no reasoning_effort", thinking},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const calls = 2
			var arrived sync.WaitGroup
			arrived.Add(calls)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // a request that is cut off has nothing that is refused
				if strings.Contains(string(body), tt.refused) {
					arrived.Done()
					arrived.Wait()
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, jsonRefusal(tt.message).Body)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, wholeAnswer().Body)
			}))
			t.Cleanup(server.Close)
			m := newModel(t, Options{
				Endpoint: Endpoint{BaseURL: server.URL, Settings: Settings{Efforts: map[string]Thinking{"high": {Effort: "high"}}}},
				Load:     func(context.Context, string) ([]byte, error) { return []byte("x"), nil },
			})
			var all sync.WaitGroup
			for range calls {
				all.Go(func() {
					if text, _, err := said(t.Context(), m, tt.req); text != "a" || err != nil {
						t.Errorf("answered %q, %v", text, err)
					}
				})
			}
			all.Wait()
		})
	}
}
