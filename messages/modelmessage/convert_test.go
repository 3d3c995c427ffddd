package modelmessage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// history is a conversation of so many turns; every answer calls a tool.
func history(turns int) []uimessage.Message {
	list := make([]uimessage.Message, 0, turns)
	for i := range turns {
		if i%2 == 0 {
			list = append(list, uimessage.Message{ID: fmt.Sprint("u", i), Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "What is the weather in Paris?"}}})
			continue
		}
		list = append(list, uimessage.Message{ID: fmt.Sprint("a", i), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{
			uimessage.StepStart{},
			uimessage.Reasoning{Text: "I need the tool.", State: uimessage.TextDone},
			uimessage.Tool{Name: "weather", ToolCallID: fmt.Sprint("c", i), State: uimessage.ToolOutputAvailable, Input: json.RawMessage(`{"city":"Paris"}`), Output: json.RawMessage(`{"temperature":21}`)},
			uimessage.StepStart{},
			uimessage.Text{Text: "It is 21 degrees.", State: uimessage.TextDone},
		}})
	}
	return list
}

func TestConvertCountsMessages(t *testing.T) {
	list := history(20)
	whole, err := conformancetest.Convert(list, conformancetest.Options{})
	stdtest.Must(t, err)
	if got, want := len(whole), 10+10*3; got != want {
		t.Errorf("%d model messages, want %d", got, want)
	}
}

func TestConvertErrors(t *testing.T) {
	user := uimessage.Message{Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "a"}}}
	tests := []struct {
		name string
		last uimessage.Message
		is   func(error) bool
	}{
		{"unknown role", uimessage.Message{Role: "tool"}, func(err error) bool { _, ok := errors.AsType[*modelmessage.RoleError](err); return ok }},
		{"user without parts", uimessage.Message{Role: uimessage.RoleUser}, func(err error) bool { return errors.Is(err, modelmessage.ErrNoParts) }},
		{"system without parts", uimessage.Message{Role: uimessage.RoleSystem}, func(err error) bool { return errors.Is(err, modelmessage.ErrNoParts) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := conformancetest.Convert([]uimessage.Message{user, tt.last}, conformancetest.Options{})
			if got != nil || !tt.is(err) {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
}

// Twice the history costs twice the allocations, not more.
func TestConvertCostIsLinear(t *testing.T) {
	cost := func(turns int) float64 {
		list := history(turns)
		return testing.AllocsPerRun(20, func() {
			if _, err := conformancetest.Convert(list, conformancetest.Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	short, long := cost(100), cost(1000)
	if long > 11*short {
		t.Errorf("1000 turns take %.0f allocations, 100 turns %.0f", long, short)
	}
}

func BenchmarkConvert200(b *testing.B) {
	list := history(200)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conformancetest.Convert(list, conformancetest.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
