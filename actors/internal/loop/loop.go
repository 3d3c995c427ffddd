package loop

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Loop is the state of one run's step loop.
type Loop struct {
	cfg Config

	textIDs      idReserver
	reasoningIDs idReserver
	guard        guard

	step  step
	steps int // completed steps
	// finish is the finish reason of the last completed step.
	finish string
	// mute is set if the stream ended early: no finish follows.
	mute   bool
	closed bool
	resp   response
}

// step is one model call with its tool calls.
type step struct {
	started  bool // start-step was sent
	terminal bool // a finish or an error arrived
	output   bool // there was text or a call
	said     bool // text that is not blank, or a file
	reasoned bool // reasoning that is not blank
	finished bool // a finish arrived
	err      error
	finish   model.FinishReason
	usage    model.Usage

	calls     []*callState
	runnable  []Call
	approvals []Approval
	invalid   []Call
	client    []Call
	texts     map[string]string
	reasoning map[string]string
	// reserved are the part ids that this step uses.
	reservedTexts, reservedReasoning []string
	withheldCall                     bool
	guardBefore                      guard
	content                          content
}

// callState is a call and whether it has an outcome.
type callState struct {
	call    Call
	settled bool
	// before is set if the call is of an earlier step and was approved since.
	before bool
}

// New makes the loop of one run.
func New(cfg Config) *Loop {
	l := &Loop{cfg: cfg}
	l.guard.limits = cfg.Guards
	l.newStep()
	return l
}

// Begin opens the stream. If the last message of the history is an assistant message, it is
// continued: its denied calls get their outcome, and the approved calls are returned to be executed
// before the first model call. An error means that an approval was forged; the stream has then
// ended.
func (l *Loop) Begin(history []uimessage.Message) ([]uistream.Chunk, []Call, error) {
	id := l.cfg.MessageID
	var last []uimessage.Part
	if n := len(history); n > 0 && history[n-1].Role == uimessage.RoleAssistant {
		id, last = history[n-1].ID, history[n-1].Parts
	}
	out := []uistream.Chunk{l.start(id)}
	more, calls, err := l.answered(last)
	if err != nil {
		l.mute = true
		return l.emit(out, "error", uistream.Error{ErrorText: l.errorText(err)}), nil, err
	}
	return append(out, more...), calls, nil
}

// EndStream ends the model call; err is what ended its stream early, or nil.
func (l *Loop) EndStream(err error) Outcome {
	s := &l.step
	var chunks []uistream.Chunk
	if err == nil && !s.terminal && !s.output {
		err = ErrNoOutput
		l.mute = true
	}
	if err != nil {
		chunks = l.emit(chunks, string(model.EventError), uistream.Error{ErrorText: l.errorText(err)})
		s.err, s.finish = err, model.FinishReason{Unified: string(uistream.FinishError)}
		l.mute = l.mute || !s.started
	}
	o := Outcome{
		Chunks: chunks, Approvals: s.approvals, Invalid: s.invalid, Client: s.client,
		Said: s.said, Reasoned: s.reasoned, Called: len(s.calls) > 0,
		Finish: s.finish, Usage: s.usage, Cut: !s.finished, Err: s.err,
	}
	switch {
	case !s.finished || err != nil || s.err != nil:
	case executes(s.finish.Unified):
		o.Calls = s.runnable
	default:
		o.Left = append(o.Left, s.runnable...)
		for _, a := range s.approvals {
			o.Left = append(o.Left, a.Call)
		}
	}
	return o
}

// executes reports whether calls are executed after a finish reason.
func executes(finish string) bool {
	return finish == string(uistream.FinishStop) || finish == string(uistream.FinishToolCalls)
}

// ToolOutput is a result of an executed call. More results may follow a preliminary one. A nil
// output reads as null. Nothing is returned for calls that are not open.
func (l *Loop) ToolOutput(callID string, output json.RawMessage, preliminary bool) []uistream.Chunk {
	c := l.openCall(callID)
	if c == nil {
		return nil
	}
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	chunk := uistream.ToolOutputAvailable{
		ToolCallID: callID, Output: output,
		ProviderMetadata: c.call.ProviderMetadata,
		ToolMetadata:     l.toolMetadata(c.call.Name),
		Dynamic:          l.dynamic(c.call.Name, uimessage.Optional[bool]{}),
	}
	if preliminary {
		chunk.Preliminary = uimessage.Some(true)
		return l.emit(nil, string(model.EventToolResult), chunk)
	}
	c.settled = true
	l.recordOutcome(c, result{call: c.call, output: output})
	return l.emit(nil, string(model.EventToolResult), chunk)
}

// ToolError is the failure of an executed call. The model reads the error, and people the text from
// Config.ErrorText. Nothing is returned for calls that are not open.
func (l *Loop) ToolError(callID string, err error) []uistream.Chunk {
	c := l.openCall(callID)
	if c == nil {
		return nil
	}
	c.settled = true
	l.recordOutcome(c, result{call: c.call, err: err})
	return l.emit(nil, kindToolError, l.toolError(c.call, err))
}

// openCall is the first call with this id that has no outcome.
func (l *Loop) openCall(id string) *callState {
	i := slices.IndexFunc(l.step.calls, func(c *callState) bool { return c.call.ID == id && !c.settled })
	if i < 0 {
		return nil
	}
	return l.step.calls[i]
}

// EndStep closes the step once all calls of its Outcome have their outcomes.
func (l *Loop) EndStep() ([]uistream.Chunk, Decision) {
	if l.mute || l.closed {
		return nil, Decision{Next: NextFailed}
	}
	out := l.emit(nil, "finish-step", uistream.FinishStep{})
	l.steps++
	l.finish = l.step.finish.Unified
	d := l.decide()
	l.resp.step(l)
	l.newStep()
	return out, d
}

// RestartStep forgets the current step, as if none of its events had arrived. Its chunks are void:
// whoever applied them has to restore the message from before. Outcomes of calls that were approved
// before are kept.
func (l *Loop) RestartStep() {
	l.textIDs.release(l.step.reservedTexts)
	l.reasoningIDs.release(l.step.reservedReasoning)
	l.guard = l.step.guardBefore
	l.mute = false
	l.newStep()
}

// NextMessage closes the current message between two steps and opens another one with this id.
func (l *Loop) NextMessage(id string) []uistream.Chunk {
	return append(l.finishChunk(nil), l.start(id))
}

// Finish ends the run after its last EndStep. It returns nothing after a failure that already ended
// the stream.
func (l *Loop) Finish() []uistream.Chunk {
	if l.mute || l.closed {
		return nil
	}
	l.closed = true
	return l.finishChunk(nil)
}

// Abort ends a run that was stopped, at any point.
func (l *Loop) Abort(reason string) []uistream.Chunk {
	if l.closed {
		return nil
	}
	l.closed = true
	c := uistream.Abort{}
	if reason != "" {
		c.Reason = uimessage.Some(reason)
	}
	return l.emit(nil, c.Type(), c)
}

// Error ends a run that failed, with a text that people may read.
func (l *Loop) Error(text string) []uistream.Chunk {
	if l.closed {
		return nil
	}
	l.closed = true
	c := uistream.Error{ErrorText: text}
	return l.emit(nil, c.Type(), c)
}

// Steps counts the steps that ended.
func (l *Loop) Steps() int { return l.steps }

func (l *Loop) decide() Decision {
	s := &l.step
	if s.err != nil {
		return Decision{Next: NextFailed}
	}
	calls, outcomes := 0, 0
	for _, c := range s.calls {
		if c.call.ProviderExecuted || c.before {
			continue
		}
		calls++
		if c.settled {
			outcomes++
		}
	}
	switch {
	case calls > 0 && calls == outcomes:
		return l.goOn()
	case len(s.approvals) > 0 || len(s.client) > 0:
		return Decision{Next: NextWait}
	default:
		return Decision{Next: NextDone}
	}
}

// goOn decides what follows a step whose calls all have outcomes.
func (l *Loop) goOn() Decision {
	if l.cfg.StopAfterSteps > 0 && l.steps == l.cfg.StopAfterSteps {
		return Decision{Next: NextLimit, Reason: LimitStop}
	}
	if l.cfg.StopWhen != nil {
		var calls []Call
		for _, c := range l.step.calls {
			if !c.before {
				calls = append(calls, c.call)
			}
		}
		if l.cfg.StopWhen(calls) {
			return Decision{Next: NextLimit, Reason: LimitStop}
		}
	}
	if r := l.guard.after(l.steps); r != LimitNone {
		return Decision{Next: NextLimit, Reason: r}
	}
	return Decision{Next: NextStep}
}

func (l *Loop) newStep() {
	l.step = step{
		finish:      model.FinishReason{Unified: string(uistream.FinishOther)},
		texts:       map[string]string{},
		reasoning:   map[string]string{},
		guardBefore: l.guard,
	}
}

func (l *Loop) start(id string) uistream.Start {
	c := uistream.Start{Metadata: l.metadata("start")}
	if id != "" {
		c.MessageID = uimessage.Some(id)
	}
	return c
}

func (l *Loop) finishChunk(out []uistream.Chunk) []uistream.Chunk {
	return append(out, uistream.Finish{Reason: uistream.FinishReason(l.finish), Metadata: l.metadata("finish")})
}
