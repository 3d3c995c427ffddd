package run

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Options configure runs; one value serves all runs of a host, until the settings change. It never changes itself.
type Options struct {
	Model  model.Model
	Gate   *actor.PID // the model gate
	Router *actor.PID // for messages to other chats
	Tools  Tools
	NewID  func() string
	Logger *slog.Logger
	// Metrics may be nil.
	Metrics *Metrics
	// StartMetadata returns the metadata that readers get with the start of a message. The model is its name in
	// [messages.StartRun].
	StartMetadata func(runID, model string) json.RawMessage
	// MaxOutputTokens bounds an answer; 0 means the model's default.
	MaxOutputTokens int
	// Rules are the operator's rules for commands.
	Rules Rules
	// Mask masks secrets in the output of tools; nil masks nothing. JSON stays valid JSON. It is
	// called concurrently.
	Mask func(json.RawMessage) json.RawMessage
	// Jitter spreads the waits between retries; nil means a random part of each.
	Jitter func(time.Duration) time.Duration
}

// Tools gives runs access to the tools of the host.
type Tools interface {
	// Find returns a tool by name.
	Find(name string) (tool.Tool, bool)
	// Validate checks an input against the tool's schema.
	Validate(name string, input json.RawMessage) error
	// Cap shortens a result that is too long; the whole is stored elsewhere.
	Cap(ctx context.Context, call tool.Call, output json.RawMessage) json.RawMessage
	// Wire is the name and the schema of a tool as the model reads them; Name converts the name back.
	Wire(spec tool.Spec) (name string, schema json.RawMessage)
	Name(wire string) string
}

// Props makes the actor of one run. It asks for its options with every message, so that new rules
// bind the next call of a run in progress. The memo speeds up requests that extend earlier ones; it
// may be nil.
func Props(current func() *Options, memo *model.Memo) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return &run{current: current, memo: memo} })
}

type run struct {
	*Options // those of the message that is handled
	current  func() *Options

	memo  *model.Memo
	start messages.StartRun
	loop  *loop.Loop
	offer []model.ToolSpec // tools as offered to the model, by name; replaced when it grows
	later []tool.FollowUp  // tools that could do nothing yet
	home  pipe.Home
	chat  *actor.PID

	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc

	input messages.StepInput
	asker messages.Asker
	// limit is the spending limit because of which the model cheaper answers, if people have yet to read that.
	limit, cheaper string
	messageID      string
	gen            int   // of the model call; events of an older one are dropped
	heard          bool  // the call produced output
	tries          int   // how often the step was retried after a cut stream
	repeated       bool  // the step is requested again, because its answer was empty
	shares         int   // how often the step's request was shortened
	shortened      bool  // the chat was asked to compact its history
	tooLong        error // the model's error, until the chat answers
	asked          time.Time
	called         time.Time        // when the model was called last
	took           time.Duration    // of the last call, until the chat knows it
	answers        json.RawMessage  // what the provider says of the answer, such as the name of the model
	trim           prompt.Trim      // what requests leave out; it does not change back during the run
	unsaid         []uistream.Chunk // chunks of the stream not sent to the chat yet
	said           time.Time
	flushing       *time.Timer // until the next flush; nil if none is due

	calls   []loop.Call         // of the step, to execute
	open    int                 // calls of the step still without outcome
	begun   int                 // calls started so far
	under   map[int]*time.Timer // calls in progress, and the timers that abandon them
	waiting []loop.Call         // ordered calls that have not started
	final   bool
	// between is set if the calls belong to no step of this loop: a crash interrupted their step, or
	// a person has approved them since.
	between   bool
	approvals approvals
}

func (r *run) Receive(ac actor.Context) {
	r.Options = r.current()
	switch msg := ac.Message().(type) {
	case *actor.Started:
		r.home, r.chat = pipe.NewHome(ac), ac.Parent()
		r.ctx, r.cancel = context.WithCancel(context.Background())
	case *actor.Stopping, *actor.Restarting:
		r.stop()
	case messages.ToRun:
		r.command(ac, msg)
	case streamed:
		r.onStreamed(ac, msg)
	case flushDue:
		r.flush(ac)
	case streamEnded:
		r.onStreamEnded(ac, msg)
	case retry:
		r.onRetry(ac, msg)
	case toolPreliminary:
		r.onPreliminary(ac, msg)
	case toolReturned:
		r.onToolReturned(ac, msg)
	case toolOverdue:
		r.onToolOverdue(ac, msg)
	default:
		stray.Report(ac)
	}
}

func (r *run) command(ac actor.Context, msg messages.ToRun) {
	switch msg := msg.(type) {
	case messages.StartRun:
		r.begin(ac, msg)
	case messages.ContinueRun:
		r.goOn(ac, msg)
	case messages.ExecuteCalls:
		r.execute(ac, msg)
	case messages.SlotGranted:
		r.offerLater()
		r.ask()
	case messages.InputShortened:
		r.onInputShortened(ac, msg)
	case messages.GrantsChanged:
		r.approvals.regrant(msg.Grants)
	}
}

// stop ends everything in progress; the run sends nothing more. The model gate watches the actor
// and takes its slot back when the actor ends.
func (r *run) stop() {
	r.gen++
	r.unsaid = nil
	if r.cancel != nil {
		r.cancel()
	}
	r.unflush()
	for _, timer := range r.under {
		timer.Stop()
	}
}

func (r *run) begin(ac actor.Context, msg messages.StartRun) {
	r.start, r.input, r.asker, r.messageID = msg, msg.Input, msg.Asker, msg.Continue.ID
	r.trim = prompt.Trim(msg.Trim)
	r.loop = loop.New(r.config(msg))
	var before []uimessage.Message
	if len(msg.Continue.Parts) > 0 {
		before = []uimessage.Message{msg.Continue}
	}
	chunks, pending := r.loop.Begin(before)
	r.tell(ac, chunks)
	for _, c := range pending {
		r.approvals.approve(c)
	}
	r.approvals.begun = true
	r.calls = append(pending, resumed(msg)...)
	if r.between = len(r.calls) > 0 || msg.Hold; r.between {
		r.execute(ac, messages.ExecuteCalls{RunID: msg.RunID, LaneEmpty: msg.Input.LaneEmpty})
		return
	}
	r.acquire(ac)
}

// resumed are the calls that a crash left without outcome and that may start now.
func resumed(msg messages.StartRun) []loop.Call {
	var calls []loop.Call
	for _, p := range msg.Continue.Parts {
		t, ok := p.(uimessage.Tool)
		if !ok {
			continue
		}
		for _, id := range msg.Resume {
			if t.ToolCallID == id {
				calls = append(calls, loop.Call{ID: id, Name: t.Name, Input: t.Input, Dynamic: t.Dynamic})
			}
		}
	}
	return calls
}

func (r *run) config(msg messages.StartRun) loop.Config {
	r.approvals = newApprovals(msg)
	guards := loop.HostGuards()
	guards.StepsDone = msg.Input.Step - 1
	if len(msg.Resume) > 0 {
		guards.StepsDone = msg.Input.Step // the response of this step arrived before the crash
	}
	c := loop.Config{
		Guards: guards, NewID: r.NewID, MessageID: msg.Continue.ID,
		ErrorText: errorText, SendSources: true,
	}
	if r.StartMetadata != nil {
		c.StartMetadata = func() json.RawMessage { return r.StartMetadata(r.start.RunID, r.start.Model) }
	}
	names := slices.Concat(msg.Tools, msg.Later)
	tools := make([]tool.Tool, 0, len(names)) // a snapshot: changes during the run have no effect
	check, asks := r.Tools.Validate, func(c loop.Call) bool {
		i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Spec().Name == c.Name })
		return i >= 0 && r.asks(tools[i], c)
	}
	c.Tools, r.offer = make([]loop.Tool, 0, len(names)), make([]model.ToolSpec, 0, len(msg.Tools))
	for i, name := range names {
		t, ok := r.Tools.Find(name)
		if !ok {
			continue
		}
		spec := t.Spec()
		wire, _ := r.Tools.Wire(spec)
		tools = append(tools, t)
		c.Tools = append(c.Tools, loop.Tool{Name: spec.Name, CallName: wire, Title: spec.Title, Check: check, Asks: asks})
		if f, ok := t.(tool.FollowUp); ok && i >= len(msg.Tools) {
			r.later = append(r.later, f)
			continue
		}
		r.offer = append(r.offer, r.offered(t))
	}
	if len(c.Tools) == 0 {
		c.Tools = nil // a model that calls a tool is told that it has none
	}
	return c
}

// offered is a tool as offered to the model.
func (r *run) offered(t tool.Tool) model.ToolSpec {
	spec := t.Spec()
	wire, schema := r.Tools.Wire(spec)
	return model.ToolSpec{Name: wire, Description: spec.Description, InputSchema: schema}
}

// offerLater offers the tools that can do something now, where the next run of the chat will have them too.
func (r *run) offerLater() {
	for i, f := range slices.Backward(r.later) {
		if !f.Useful(r.start.ChatKey) {
			continue
		}
		spec := r.offered(f)
		at, _ := slices.BinarySearchFunc(r.offer, spec, func(a, b model.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
		r.offer = slices.Insert(slices.Clone(r.offer), at, spec)
		r.later = slices.Delete(r.later, i, i+1)
	}
}

// goOn starts the next step.
func (r *run) goOn(ac actor.Context, msg messages.ContinueRun) {
	r.input, r.asker = msg.Input, msg.Asker
	r.approvals.regrant(msg.Grants)
	if msg.System != "" {
		r.start.System, r.start.Only = msg.System, msg.Only
	}
	if msg.MessageID != "" {
		r.messageID = msg.MessageID
		r.tell(ac, r.loop.NextMessage(msg.MessageID))
	}
	if len(msg.Approved) > 0 {
		r.executeApproved(ac, msg)
		return
	}
	r.acquire(ac)
}
