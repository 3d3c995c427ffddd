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
	texts     map[string]string
	reasoning map[string]string
	// reserved are the part ids that this step uses.
	reservedTexts, reservedReasoning []string
	guardBefore                      guard
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
// before the first model call.
func (l *Loop) Begin(history []uimessage.Message) ([]uistream.Chunk, []Call) {
	id := l.cfg.MessageID
	var last []uimessage.Part
	if n := len(history); n > 0 && history[n-1].Role == uimessage.RoleAssistant {
		id, last = history[n-1].ID, history[n-1].Parts
	}
	out := []uistream.Chunk{l.start(id)}
	more, calls := l.answered(last)
	return append(out, more...), calls
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
		chunks = append(chunks, l.fault(err))
		s.err, s.finish = err, model.FinishReason{Unified: string(uistream.FinishError)}
		l.mute = l.mute || !s.started
	}
	o := Outcome{
		Chunks: chunks, Approvals: s.approvals, Invalid: s.invalid,
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
	}
	c.settled = !preliminary
	return []uistream.Chunk{chunk}
}

// ToolError is the failure of an executed call. The model reads the error, and people the text from
// Config.ErrorText. Nothing is returned for calls that are not open.
func (l *Loop) ToolError(callID string, err error) []uistream.Chunk {
	c := l.openCall(callID)
	if c == nil {
		return nil
	}
	c.settled = true
	return []uistream.Chunk{l.toolError(c.call, err)}
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
	l.steps++
	l.finish = l.step.finish.Unified
	d := l.decide()
	l.newStep()
	return []uistream.Chunk{uistream.FinishStep{}}, d
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
	return []uistream.Chunk{l.finishChunk(), l.start(id)}
}

// Finish ends the run after its last EndStep. It returns nothing after a failure that already ended
// the stream.
func (l *Loop) Finish() []uistream.Chunk {
	if l.mute || l.closed {
		return nil
	}
	l.closed = true
	return []uistream.Chunk{l.finishChunk()}
}

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
		if r := l.guard.after(l.steps); r != LimitNone {
			return Decision{Next: NextLimit, Reason: r}
		}
		return Decision{Next: NextStep}
	case len(s.approvals) > 0:
		return Decision{Next: NextWait}
	default:
		return Decision{Next: NextDone}
	}
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
	c := uistream.Start{}
	if l.cfg.StartMetadata != nil {
		c.Metadata = l.cfg.StartMetadata()
	}
	if id != "" {
		c.MessageID = uimessage.Some(id)
	}
	return c
}

func (l *Loop) finishChunk() uistream.Chunk {
	return uistream.Finish{Reason: uistream.FinishReason(l.finish)}
}
