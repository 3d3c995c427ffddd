package apitest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestStart starts each fake and asks it wrongly: the fault is recorded, and nothing is billed.
func TestStart(t *testing.T) {
	paths := map[string]string{Chat: "/chat/completions", Messages: "/messages", Responses: "/responses"}
	for _, api := range APIs() {
		s, url := Start(t, api, modeltest.NewScript(), "")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+paths[api], strings.NewReader(`{}`))
		stdtest.Must(t, err)
		resp, err := http.DefaultClient.Do(req)
		stdtest.Must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest || len(s.Bodies()) != 1 || len(s.Faults()) != 1 || len(s.Calls()) != 0 {
			t.Errorf("%s: status %d, %d bodies, faults %v, calls %v", api, resp.StatusCode, len(s.Bodies()), s.Faults(), s.Calls())
		}
	}
}

func TestBeginning(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"chat", `{"tools":[{}],"messages":[{"content":"a"},{"content":"b"}],"stop":["x"]}`, `{"tools":[{}],"messages":[{"content":"a"},{"content":"b"`},
		{"messages", `{"messages":[{"content":[{"text":"a","cache_control":{"type":"ephemeral"}}]}],"thinking":{}}`, `{"messages":[{"content":[{"text":"a"`},
		{"responses", `{"input":[{"content":[{"text":"a"}]}],"include":["x"]}`, `{"input":[{"content":[{"text":"a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(Beginning(t, []byte(tt.body))); got != tt.want {
				t.Errorf("begins %s, want %s", got, tt.want)
			}
		})
	}
}
