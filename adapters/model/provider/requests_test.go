package provider

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	callC   = `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}]}`
	answerC = `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":"x"}}]}`
)

func TestRequestsThatCannotBeSent(t *testing.T) {
	tests := []struct {
		name, messages string
		want           error
	}{
		{"none", `[]`, protocol.ErrNoMessages},
		{"nothing said", `[{"role":"user","content":""}]`, protocol.ErrNoMessages},
		{"open call", `[` + callC + `]`, protocol.ErrMissingResult},
		{"open call before a question", `[` + callC + `,{"role":"user","content":"a"},` + answerC + `]`, protocol.ErrMissingResult},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var req model.Request
			stdtest.Must(t, json.Unmarshal([]byte(tt.messages), &req.Messages))
			m := newModel(t, Options{Transport: answers{status: 200}, Fallbacks: []Endpoint{{Model: "n"}}})
			_, _, err := said(t.Context(), m, req)
			if model.ReasonOf(err) != model.ReasonInternal || !errors.Is(err, tt.want) {
				t.Errorf("failed with %v, want internal with %v", err, tt.want)
			}
		})
	}
}
