package loop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// protocolService is a strict service of one protocol. It answers with the next step, and remembers
// the last request.
type protocolService struct {
	name   string
	client *provider.Model
	faults func() []error
	step   modeltest.Step
	last   model.Request
}

func (s *protocolService) answer(req model.Request) []model.Event {
	s.last = req
	events := append(modeltest.ReasoningEvents(s.step.Reasoning...), modeltest.TextEvents(s.step.Text...)...)
	reason := "stop"
	if len(s.step.Calls) > 0 {
		reason = "tool-calls"
	}
	return append(append(events, modeltest.CallEvents(s.step.Calls...)...), modeltest.Finish(reason))
}

func protocolServices(t *testing.T) []*protocolService {
	t.Helper()
	var list []*protocolService
	for _, name := range apitest.APIs() {
		s := &protocolService{name: name}
		list = append(list, s)
		server, url := apitest.Start(t, name, modeltest.NewFunc(s.answer), "")
		s.faults = server.Faults
		e := provider.Endpoint{API: provider.API(name), BaseURL: url, Model: "m"}
		switch name {
		case apitest.Chat:
			e.API = provider.APIChat
		case apitest.Responses:
			e.Settings.Thinking.Summary = "auto"
		}
		m, err := provider.New(provider.Options{Endpoint: e, MaxAttempts: 1})
		stdtest.Must(t, err)
		s.client = m
	}
	return list
}

// drawStep draws what a model says in one step. The texts are such that services keep them: with
// words, and no more than JSON can hold.
func drawStep(t *rapid.T, n int, calls bool) modeltest.Step {
	words := rapid.StringMatching(`[a-zé<"\\\n\t😀 ]{0,12}w`)
	step := modeltest.Step{
		Reasoning: rapid.SliceOfN(words, 0, 3).Draw(t, "reasoning"),
		Text:      rapid.SliceOfN(words, 1, 3).Draw(t, "text"),
	}
	if !calls {
		return step
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
		input, _ := json.Marshal(map[string]any{"q": words.Draw(t, "input"), "n": i}) // it always encodes
		step.Calls = append(step.Calls, modeltest.Call{ID: fmt.Sprintf("c_%d_%d", n, i), Name: "look", Input: string(input)})
	}
	return step
}

// TestNothingIsLostOnTheWay makes each service answer with random steps. The answers become a stored message, from
// which the next request repeats to the service what it said itself.
func TestNothingIsLostOnTheWay(t *testing.T) {
	for _, s := range protocolServices(t) {
		t.Run(s.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				steps := []modeltest.Step{}
				for i := range rapid.IntRange(0, 3).Draw(rt, "steps") {
					steps = append(steps, drawStep(rt, i, true))
				}
				steps = append(steps, drawStep(rt, len(steps), false))
				history := []uimessage.Message{{ID: "u1", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "hi"}}}}
				history = append(history, s.run(rt, history, steps))
				history = append(history, uimessage.Message{ID: "u2", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "go on"}}})
				s.step = modeltest.Say("end")
				s.ask(rt, history, func(model.Event) {})
				if diff := cmp.Diff(sayings(steps, s.name), returned(s.last.Messages, s.name)); diff != "" {
					rt.Fatalf("the service reads of itself (-said +read):\n%s", diff)
				}
				if faults := s.faults(); len(faults) > 0 {
					rt.Fatalf("the service refuses: %v", faults)
				}
			})
		})
	}
}

// run lets the service answer with the steps, and returns the message as it is read from storage.
func (s *protocolService) run(t *rapid.T, history []uimessage.Message, steps []modeltest.Step) uimessage.Message {
	ids := 0
	l := loop.New(loop.Config{
		MessageID: "a1", Tools: []loop.Tool{{Name: "look"}},
		NewID: func() string { ids++; return fmt.Sprint("id", ids) },
	})
	writer := uistream.NewWriter(nil, "a1")
	apply := func(chunks []uistream.Chunk) {
		for _, c := range chunks {
			if _, err := writer.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	begun, _ := l.Begin(history)
	apply(begun)
	for i, step := range steps {
		s.step = step
		sent := history
		if i > 0 {
			sent = append(slices.Clip(history), writer.Snapshot())
		}
		s.ask(t, sent, func(e model.Event) { apply(l.AppendEvent(nil, e)) })
		out := l.EndStream(nil)
		apply(out.Chunks)
		for _, c := range out.Calls {
			apply(l.ToolOutput(c.ID, json.RawMessage(`"found"`), false))
		}
		closed, _ := l.EndStep()
		apply(closed)
	}
	apply(l.Finish())
	var stored []uimessage.Message
	stdtest.Must(t, json.Unmarshal(append(append([]byte{'['}, uimessage.AppendJSON(nil, writer.Snapshot())...), ']'), &stored))
	return stored[0]
}

func (s *protocolService) ask(t *rapid.T, history []uimessage.Message, event func(model.Event)) {
	messages, err := conformancetest.Convert(history, conformancetest.Options{})
	stdtest.Must(t, err)
	req := model.Request{Messages: messages, Tools: []model.ToolSpec{{Name: "look", InputSchema: json.RawMessage(`{"type":"object"}`)}}}
	for e, err := range s.client.Stream(t.Context(), req) {
		stdtest.Must(t, err)
		event(e)
	}
}

// sayings are what the steps say, in order.
func sayings(steps []modeltest.Step, protocol string) (list []string) {
	for _, s := range steps {
		if text := strings.Join(s.Reasoning, ""); text != "" && protocol != "chat" {
			list = append(list, "reasoning "+text)
		}
		list = append(list, "text "+strings.Join(s.Text, ""))
		for _, c := range s.Calls {
			list = append(list, "call "+c.Name+" "+c.Input)
		}
	}
	return list
}

// returned is what the assistant's messages of a request say, in order. The server for chat
// completions does not tell of reasoning.
func returned(messages []modelmessage.Message, protocol string) (list []string) {
	for _, m := range messages {
		if m.Role != modelmessage.RoleAssistant {
			continue
		}
		if m.Parts == nil {
			list = append(list, "text "+m.Text)
		}
		for _, part := range m.Parts {
			switch p := part.(type) {
			case modelmessage.Text:
				list = append(list, "text "+p.Text)
			case modelmessage.Reasoning:
				if protocol != "chat" {
					list = append(list, "reasoning "+p.Text)
				}
			case modelmessage.ToolCall:
				list = append(list, "call "+p.ToolName+" "+string(p.Input))
			default:
			}
		}
	}
	return list
}
