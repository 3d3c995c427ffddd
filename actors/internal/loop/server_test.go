package loop_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

type serverSpec struct {
	System         *string                    `json:"system"`
	StopWhen       stopSpecs                  `json:"stopWhen"`
	ToolChoice     toolChoice                 `json:"toolChoice"`
	ActiveTools    []string                   `json:"activeTools"`
	SendReasoning  *bool                      `json:"sendReasoning"`
	SendSources    bool                       `json:"sendSources"`
	Metadata       map[string]json.RawMessage `json:"metadata"`
	ApprovalSecret *string                    `json:"approvalSecret"`
	Errors         string                     `json:"errors"`
	Entry          string                     `json:"entry"`
}

type stopSpec struct {
	StepCount int    `json:"stepCount"`
	ToolCall  string `json:"toolCall"`
}

// stopSpecs are one condition, or several of which any is enough.
type stopSpecs []stopSpec

func (s *stopSpecs) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return conformancetest.Strictly(raw, (*[]stopSpec)(s))
	}
	*s = make(stopSpecs, 1)
	return conformancetest.Strictly(raw, &(*s)[0])
}

// toolChoice is a word, or the tool that must be called.
type toolChoice struct {
	Type     string `json:"type"`
	ToolName string `json:"toolName,omitempty"`
}

func (c *toolChoice) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return conformancetest.Strictly(raw, &c.Type)
	}
	type plain toolChoice
	return conformancetest.Strictly(raw, (*plain)(c))
}

// engine is the choice in the form of a model request.
func (c toolChoice) engine() string {
	if c.ToolName != "" {
		return "tool:" + c.ToolName
	}
	return c.Type
}

// scripted is what the model does when it is called.
type scripted struct {
	Parts  []json.RawMessage `json:"parts"`
	Throw  *string           `json:"throw"`
	SSE    *string           `json:"sse"`
	Status int               `json:"status"`
	JSON   json.RawMessage   `json:"json"`
}

type request struct {
	Trigger    string              `json:"trigger"`
	MessageID  string              `json:"messageId,omitempty"`
	Messages   []uimessage.Message `json:"messages"`
	ModelCalls []modelCall         `json:"modelCalls"`
	Executions []execution         `json:"executions,omitempty"`
	Chunks     []chunkJSON         `json:"chunks"`
	Finish     *finish             `json:"finish,omitempty"`
	Rejected   *fault              `json:"rejected,omitempty"`
	Broken     *fault              `json:"broken,omitempty"`

	abortAfter int
}

type modelCall struct {
	Prompt     json.RawMessage `json:"prompt,omitempty"`
	ToolChoice *toolChoice     `json:"toolChoice,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
}

type execution struct {
	ToolName   string          `json:"toolName"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
}

type finish struct {
	IsContinuation  bool                  `json:"isContinuation"`
	IsAborted       bool                  `json:"isAborted"`
	FinishReason    uistream.FinishReason `json:"finishReason,omitempty"`
	Outcome         string                `json:"outcome"`
	ResponseMessage uimessage.Message     `json:"responseMessage"`
	MessageIDs      []string              `json:"messageIds"`
}

type chunkJSON struct{ uistream.Chunk }

func (c chunkJSON) MarshalJSON() ([]byte, error) { return uistream.AppendJSON(nil, c.Chunk), nil }

// server answers requests with the engine under test.
type server struct {
	t          *testing.T
	spec       serverSpec
	protocol   string
	tools      toolList
	script     []scripted
	used       int
	ids        int
	messageIDs int
	outputs    map[string]int
	modelTools []any
	differs    bool // a run's request differs from the conversion of its history
	endpoint   *endpoint
}

func newServer(t *testing.T, c *loopCase) *server {
	t.Helper()
	s := &server{t: t, spec: c.Server, protocol: c.Protocol, tools: c.tools, script: c.Model, outputs: map[string]int{}}
	if c.Protocol != "" {
		s.endpoint = newEndpoint(t, s)
	}
	return s
}

func (s *server) newID() string {
	s.ids++
	return "gen-" + strconv.Itoa(s.ids)
}

// exchange is one request being answered.
type exchange struct {
	*server
	req     *request
	loop    *loop.Loop
	history []uimessage.Message
	reducer *uistream.Reducer
	toUser  func(uistream.Chunk)

	steps    int
	called   []string                              // the tools that the model called in this step
	order    []string                              // the ids of all calls
	withheld bool                                  // the model called a tool although it must not
	failures map[string]error                      // by call
	denials  map[string]uimessage.Optional[string] // the reasons, by call

	completed, failed, aborted, over bool
	reason                           uistream.FinishReason
}

func (s *server) respond(r *request, toUser func(uistream.Chunk)) {
	history, bad := s.validated(r.Messages)
	if bad != nil {
		r.Rejected = bad
		return
	}
	if _, err := conformancetest.Convert(history, conformancetest.Options{Tools: s.convertTools()}); err != nil {
		r.Rejected = faultOf(err)
		return
	}
	x := &exchange{server: s, req: r, history: history, toUser: toUser, failures: map[string]error{}, denials: map[string]uimessage.Optional[string]{}}
	var last *uimessage.Message
	if n := len(r.Messages); n > 0 {
		last = &r.Messages[n-1]
	}
	s.messageIDs++
	id := "msg-" + strconv.Itoa(s.messageIDs)
	x.reducer = uistream.NewWriter(last, id)
	x.loop = loop.New(s.config(id))
	x.run(history)
	x.finish()
}

func (s *server) config(id string) loop.Config {
	c := loop.Config{
		SendSources: s.spec.SendSources,
		NewID:       s.newID, MessageID: id, ErrorText: s.errorText,
		StartMetadata: func() json.RawMessage { return s.spec.Metadata["start"] },
	}
	for _, t := range s.offered() {
		c.Tools = append(c.Tools, t.engineTool(s.t))
	}
	return c
}

func (s *server) errorText(err error) string {
	if s.spec.Errors == "plain" {
		return plainText(err)
	}
	return "An error occurred."
}

// thrown is a value thrown by a tool that is not an error.
type thrown struct{ value json.RawMessage }

func (e thrown) Error() string { return string(e.value) }

// plainText is an error as a JavaScript string.
func plainText(err error) string {
	if e, ok := errors.AsType[thrown](err); ok && e.value[0] == '{' {
		return "[object Object]"
	}
	return err.Error()
}

func (x *exchange) run(history []uimessage.Message) {
	chunks, calls := x.loop.Begin(history)
	if err := x.forged(history); err != nil {
		x.send([]uistream.Chunk{chunks[0], uistream.Error{ErrorText: x.errorText(err)}})
		return
	}
	x.send(chunks)
	x.execute(calls)
	for !x.over {
		x.called = nil
		outcome := x.step()
		for _, c := range outcome.Invalid {
			x.failures[c.ID] = c.Err
		}
		x.send(outcome.Chunks)
		x.execute(outcome.Calls)
		if x.over {
			return
		}
		chunks, decision := x.loop.EndStep()
		x.steps++
		x.send(chunks)
		if decision.Next != loop.NextStep || x.stops() {
			break
		}
	}
	x.send(x.loop.Finish())
}

func (x *exchange) step() loop.Outcome {
	x.newID() // the SDK takes an id for the response
	messages, err := x.messages()
	if err != nil {
		return x.loop.EndStream(err)
	}
	if x.protocol != "" {
		return x.ask(messages)
	}
	prompt, err := providerPrompt(x.spec.System, messages)
	if err != nil {
		return x.loop.EndStream(err)
	}
	call := modelCall{Prompt: prompt}
	if tools := x.offered(); len(tools) > 0 {
		call.ToolChoice = &toolChoice{Type: "auto"}
		if x.spec.ToolChoice.Type != "" {
			call.ToolChoice = &x.spec.ToolChoice
		}
		x.modelTools = x.described(tools)
	}
	x.req.ModelCalls = append(x.req.ModelCalls, call)
	entry := x.next()
	if entry.Throw != nil {
		return x.loop.EndStream(errors.New(*entry.Throw))
	}
	for _, raw := range entry.Parts {
		if x.over {
			break
		}
		x.event(eventOf(x.t, raw))
	}
	return x.loop.EndStream(nil)
}

// converted is the history with the current message, as in a chat's request.
func (x *exchange) converted() ([]modelmessage.Message, error) {
	history := slices.Clone(x.history)
	if x.continues() {
		history = history[:len(history)-1]
	}
	history = append(history, x.reducer.Snapshot())
	return conformancetest.Convert(history, conformancetest.Options{Tools: x.convertTools()})
}

func samePrompt(a, b []modelmessage.Message) bool {
	x, errX := providerPrompt(nil, a)
	y, errY := providerPrompt(nil, b)
	if errX != nil || errY != nil {
		return errX != nil && errY != nil && errX.Error() == errY.Error()
	}
	return string(x) == string(y)
}

func (s *server) next() scripted {
	if s.used >= len(s.script) {
		s.t.Fatalf("the scripted model has no more than %d turns", s.used)
	}
	s.used++
	return s.script[s.used-1]
}

// execute runs calls concurrently; the slow ones end later. Tools of the client run there.
func (x *exchange) execute(calls []loop.Call) {
	if x.over {
		return
	}
	calls = slices.DeleteFunc(slices.Clone(calls), func(c loop.Call) bool { return x.tools.find(c.Name).Execute == nil })
	for _, c := range calls {
		x.req.Executions = append(x.req.Executions, execution{ToolName: c.Name, ToolCallID: c.ID, Input: c.Input})
	}
	if x.req.abortAfter > 0 && len(x.req.Chunks) >= x.req.abortAfter {
		x.abort()
		return
	}
	slices.SortStableFunc(calls, func(a, b loop.Call) int {
		return x.tools.find(a.Name).Execute.DelayMS - x.tools.find(b.Name).Execute.DelayMS
	})
	for _, c := range calls {
		x.invoke(c)
	}
}

func (x *exchange) fail(c loop.Call, err error) {
	x.failures[c.ID] = err
	x.send(x.loop.ToolError(c.ID, err))
}

func (x *exchange) invoke(c loop.Call) {
	e := x.tools.find(c.Name).Execute
	var last json.RawMessage
	for _, out := range e.Yield {
		x.send(x.loop.ToolOutput(c.ID, out, true))
		last = out
	}
	switch {
	case e.Throw != nil:
		x.fail(c, errors.New(*e.Throw))
	case e.ThrowValue != nil:
		x.fail(c, thrown{e.ThrowValue})
	case e.Yield != nil:
		x.send(x.loop.ToolOutput(c.ID, last, false))
	case e.ReturnNothing:
		x.send(x.loop.ToolOutput(c.ID, nil, false))
	case e.Echo:
		x.send(x.loop.ToolOutput(c.ID, c.Input, false))
	case e.ReturnEach != nil:
		n := x.outputs[c.Name]
		x.outputs[c.Name]++
		x.send(x.loop.ToolOutput(c.ID, e.ReturnEach[n%len(e.ReturnEach)], false))
	default:
		x.send(x.loop.ToolOutput(c.ID, e.Return, false))
	}
}

// send passes chunks to the store and to the client, with what a case adds to them.
func (x *exchange) send(chunks []uistream.Chunk) {
	for _, c := range chunks {
		if c = x.dressed(c); c != nil {
			x.sendOne(c)
		}
		if _, ok := c.(uistream.FinishStep); ok && x.spec.Metadata["finish-step"] != nil {
			x.sendOne(uistream.MessageMetadata{Metadata: x.spec.Metadata["finish-step"]})
		}
	}
}

func (x *exchange) call(id string) uimessage.Tool {
	for _, p := range x.reducer.Snapshot().Parts {
		if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == id {
			return t
		}
	}
	return uimessage.Tool{}
}

func (x *exchange) sendOne(c uistream.Chunk) {
	if x.over {
		return
	}
	switch c := c.(type) {
	case uistream.Finish:
		x.completed, x.reason = true, cmp.Or(c.Reason, x.reason)
	case uistream.Error:
		x.failed = true
	case uistream.Abort:
		x.aborted = true
	default:
	}
	if _, err := x.reducer.Apply(c); err != nil {
		x.req.Broken, x.failed, x.over = faultOf(err), true, true
		return
	}
	x.req.Chunks = append(x.req.Chunks, chunkJSON{c})
	x.toUser(c)
	if x.req.abortAfter > 0 && len(x.req.Chunks) == x.req.abortAfter && !x.aboutToExecute(c) {
		x.abort()
	}
}

// aboutToExecute delays an abort until the call that just arrived runs.
func (x *exchange) aboutToExecute(c uistream.Chunk) bool {
	_, call := c.(uistream.ToolInputAvailable)
	return call
}

func (x *exchange) abort() {
	at := x.req.abortAfter
	x.req.abortAfter = 0
	x.send([]uistream.Chunk{uistream.Abort{Reason: uimessage.Some("This operation was aborted")}})
	x.over, x.req.abortAfter = true, at
}

// continues reports whether the answer continues the last message of the request.
func (x *exchange) continues() bool {
	n := len(x.req.Messages)
	return n > 0 && x.req.Messages[n-1].Role == uimessage.RoleAssistant && x.req.Messages[n-1].ID == x.reducer.Message().ID
}

func (x *exchange) finish() {
	m := x.reducer.Snapshot()
	f := &finish{
		IsContinuation: x.continues(), IsAborted: x.aborted,
		FinishReason: x.reason, ResponseMessage: m, Outcome: "unknown",
	}
	switch {
	case x.req.Broken != nil:
		f.Outcome = "failed"
	case x.completed:
		f.Outcome = "completed"
	case f.IsAborted:
		f.Outcome = "aborted"
	case x.failed:
		f.Outcome = "failed"
	}
	before := x.req.Messages
	if f.IsContinuation {
		before = before[:len(before)-1]
	}
	for _, b := range before {
		f.MessageIDs = append(f.MessageIDs, b.ID)
	}
	f.MessageIDs = append(f.MessageIDs, m.ID)
	x.req.Finish = f
}

func (s *server) convertTools() map[string]conformancetest.Tool {
	if s.tools == nil {
		return nil
	}
	out := map[string]conformancetest.Tool{}
	for _, t := range s.tools {
		var m conformancetest.Tool
		if t.spec.ToModelOutput != nil {
			m.ToModelOutput = t.spec.ToModelOutput.Of
		}
		out[t.name] = m
	}
	return out
}

// offered are the tools that the model may call.
func (s *server) offered() toolList {
	if s.spec.ActiveTools == nil {
		return s.tools
	}
	return slices.DeleteFunc(slices.Clone(s.tools), func(t namedTool) bool {
		return !slices.Contains(s.spec.ActiveTools, t.name)
	})
}

func (s *server) described(tools toolList) []any {
	var out []any
	for _, t := range tools {
		d := map[string]any{"type": "function", "name": t.name, "inputSchema": t.schema()}
		if t.spec.Description != nil {
			d["description"] = *t.spec.Description
		}
		out = append(out, d)
	}
	return out
}
