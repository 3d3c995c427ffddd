package provider

import (
	"context"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Each request is answered by the model that it names, and one about a picture by a model that takes
// them.
func TestChoices(t *testing.T) {
	server := func(name string) Endpoint {
		s := modeltest.NewServer(modeltest.NewFunc(func(model.Request) []model.Event {
			return append(modeltest.TextEvents(name), modeltest.Finish("stop"))
		}), modeltest.ServerOptions{})
		t.Cleanup(s.Close)
		return Endpoint{BaseURL: s.URL, Model: name}
	}
	blind := func(e Endpoint) Endpoint {
		e.Settings.NoImages = true
		return e
	}
	gone := server("gone")
	gone.BaseURL += "/nowhere"
	o := Options{
		Endpoint: blind(server("main")), MaxAttempts: 1,
		Load: func(context.Context, string) ([]byte, error) { return []byte("GIF89a"), nil },
	}
	c, err := NewChoices(o, []Choice{{"fast", blind(server("fast"))}, {"deep", server("deep")}, {"gone", gone}, {model.Vision, server("seeing")}})
	stdtest.Must(t, err)
	text := func(role modelmessage.Role, s string) modelmessage.Message {
		return modelmessage.Message{Role: role, Parts: []modelmessage.Part{modelmessage.Text{Text: s}}}
	}
	picture := modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.Text{Text: "what is this?"}, modelmessage.File{MediaType: "image/gif", Data: "R0lGODlhAQABAAAAACwAAAAAAQABAAA="},
	}}
	call := modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: "c", ToolName: "t", Input: []byte("{}")}}}
	result := modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: "c", ToolName: "t", Output: modelmessage.Output{Type: modelmessage.OutputText, Text: "x"}}}}
	hi := text(modelmessage.RoleUser, "hi")
	for _, tt := range []struct {
		name, model string
		messages    []modelmessage.Message
		want        string
	}{
		{"no name", "", []modelmessage.Message{hi}, "main"},
		{"its name", "main", []modelmessage.Message{hi}, "main"},
		{"a choice", "fast", []modelmessage.Message{hi}, "fast"},
		{"one that is gone from the settings", "older", []modelmessage.Message{hi}, "main"},
		{"one that fails", "gone", []modelmessage.Message{hi}, "main"},
		{"a picture", "fast", []modelmessage.Message{picture}, "seeing"},
		{"a picture for one that takes it", "deep", []modelmessage.Message{picture}, "deep"},
		{"a picture, and words meanwhile", "", []modelmessage.Message{picture, call, result, hi}, "seeing"},
		{"a picture that was answered", "", []modelmessage.Message{picture, text(modelmessage.RoleAssistant, "a cat"), hi}, "main"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := said(t.Context(), c, model.Request{Model: tt.model, Messages: tt.messages})
			if err != nil || got != tt.want {
				t.Errorf("answered by %q (%v), want %q", got, err, tt.want)
			}
		})
	}
	if h := c.Health(); len(h) != 5 || h[3].Model != "gone" || h[3].Skipped == 0 || h[0].Skipped != 0 {
		t.Errorf("health %+v", h)
	}
}
