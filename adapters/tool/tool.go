// Package tool is the contract between runs and their tools. A tool is a Go file, a hand-written JSON Schema, and the
// text that the model reads (name.md next to name.go). Implementations are one level deeper.
//
// A run offers tools in the order of their set, validates every input against the schema before passing it to a tool,
// and journals a call before it starts and its outcome before the model sees it.
package tool

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Spec describes a tool. Specs do not change while a host runs.
type Spec struct {
	Name        string // ^[a-zA-Z0-9_-]{1,64}$, or server:tool for MCP
	Description string // what the model reads
	InputSchema json.RawMessage
	// Foreign says that somebody else wrote the schema, which the model then reads unchanged. Otherwise it does not
	// read the keywords that only limit values, such as maxLength, so the description has to mention a limit that matters.
	Foreign bool

	// ReadOnly tools change nothing.
	ReadOnly bool
	// Repeatable tools may run again after a crash in which their outcome was lost.
	Repeatable bool
	// Ordered tools run one after the other, in the order of their calls, if a step has several.
	Ordered bool
	// Asks is set if every call needs a person's approval.
	Asks bool
	// Title names the tool for people; it defaults to the name.
	Title string
	// Deadline limits the duration of one call; it defaults to two minutes.
	Deadline time.Duration
}

// Tool is one tool of a run. Invoke is called concurrently.
type Tool interface {
	Spec() Spec
	// Invoke runs one call. The input has been validated. The model receives an error as the call's error text; the
	// run continues. Invoke must return soon after ctx ends.
	Invoke(ctx context.Context, call Call) (Result, error)
}

// Described is the part of a tool that knows its spec, for tools to embed.
type Described struct{ spec *Spec }

// DescribedBy completes a spec with files of docs, the package's embedded ones, and keeps it: the description is that of
// name.md, followed by those of more, and the schema is that of name.schema.json. It panics if a file is missing, because
// the files are part of the program.
func DescribedBy(docs embed.FS, name string, s *Spec, more ...string) Described {
	read := func(name string) []byte {
		data, err := docs.ReadFile(name)
		if err != nil {
			panic(err)
		}
		return data
	}
	s.InputSchema = read(name + ".schema.json")
	texts := make([]string, 0, 1+len(more))
	for _, name := range append([]string{name}, more...) {
		texts = append(texts, strings.TrimSpace(string(read(name+".md"))))
	}
	s.Description = strings.Join(texts, "\n\n")
	return Described{s}
}

// Spec implements [Tool].
func (d *Described) Spec() Spec { return *d.spec }

// Streamer is a tool that shows preliminary results while it works.
type Streamer interface {
	Tool
	// InvokeStream is Invoke with a function for preliminary results, each of which replaces the previous one.
	InvokeStream(ctx context.Context, call Call, preliminary func(json.RawMessage)) (Result, error)
}

// FollowUp is a tool that can do nothing in a chat until something happened there: what reads the output of background
// processes needs one. It is left out of requests until then, also within a run.
type FollowUp interface {
	Tool
	// Useful reports whether the tool can do something in the chat. It is called before every request and is fast.
	Useful(chat messages.ChatKey) bool
}

// Call is one call of a tool by the model, with an immutable view of its run.
type Call struct {
	ID    string
	Name  string
	Input json.RawMessage
	Run   Run
	// Bind is the [Explanation].Bind that a person agreed to, or empty if nobody was asked. A tool that sets Bind
	// compares it immediately before the effect.
	Bind string
	// Egress sends messages to people.
	Egress Egress
}

// Read decodes the input. Its error wraps [ErrInput].
func (c Call) Read(into any) error {
	if err := json.Unmarshal(c.Input, into); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return nil
}

// Egress sends messages to people through the outbox of the chat, so that none is lost or sent twice. It is safe for
// concurrent use.
type Egress interface {
	// Send adds a message to the outbox of the run's own chat, once per call, however often it is repeated. It waits
	// at most five seconds for delivery.
	Send(ctx context.Context, callID string, out Outgoing) (Delivery, error)
	// SendTo adds a message to the outbox of another chat, through that chat's own actor.
	SendTo(ctx context.Context, key messages.ChatKey, callID string, out Outgoing) (Delivery, error)
}

// Outgoing is a message for people, in Markdown.
type Outgoing struct {
	Text    string
	ReplyTo string // the platform's id of the message it answers
	Files   []messages.FileRef
}

// Delivery is the state of an [Outgoing] so far.
type Delivery struct {
	Delivered bool
	Parked    bool   // it could not be sent, and a person has to look at it
	Parts     int    // already delivered to the platform
	Skipped   string // why nothing was sent: duplicate, limit or empty
}

// Run is what a tool may know about the run that called it.
type Run struct {
	ChatKey   messages.ChatKey
	RunID     string
	MessageID string // of the assistant message that contains the call
	RequestID string
	// Sole says that the call is the only one of its step, LaneEmpty that no turn is queued.
	Sole, LaneEmpty bool
	// Asker is the sender of the newest user turn that the model has read.
	Asker Person
	// Payer is the person who is charged for the run, as from [messages.PersonKey], or empty.
	Payer string
	// Group says that several people can write in the chat.
	Group bool
}

// Person is a user of a platform, identified by the platform's own id.
type Person struct {
	Platform string
	ID       string
	Name     string
}

// Result is the result of a call.
type Result struct {
	// Output is the JSON that the model reads; it is capped before it is stored.
	Output json.RawMessage
	// Final requests that the run ends without another model call.
	Final bool
	// Switch tells the chat to continue in another context after the step; the zero value does nothing.
	Switch messages.ContextSwitch
	// Skill tells the chat to load or unload a skill before the next step; the zero value does nothing.
	Skill messages.SkillOrder
	// Summary is an optional summary for people, of at most 500 characters.
	Summary string
	// Pictures are stored files of the run's chat that are shown to the model with the result, if it accepts images.
	Pictures []messages.Picture
	// Failed says that the called program or server failed, although the call itself succeeded, for example with an
	// exit code. The model reads Output in any case.
	Failed bool
}

// Answer is the result with the JSON of a value as its output.
func Answer(output any, summary string) (Result, error) {
	raw, err := json.Marshal(output)
	if err != nil {
		return Result{}, fmt.Errorf("encode result: %w", err)
	}
	return Result{Output: raw, Summary: summary}, nil
}
