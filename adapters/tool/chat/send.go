package chat

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// SendName is the name of the tool that answers people.
const SendName = "chat_send"

//go:embed send.md
var sendText string

//go:embed send.schema.json
var sendSchema []byte

// Options of the tools.
type Options struct {
	// Files is the folder whose files may be attached; empty: none may. Folder is the
	// one of a chat in it, with slashes: a chat sends nothing of another. Without it
	// all of Files is every chat's.
	Files  string
	Folder func(key messages.ChatKey) (string, error)
	// Open opens a file of the project that tools may read, and gives its path without
	// links; nil: no file of the project can be sent.
	Open func(path string) (f *os.File, name string, err error)
	// Link is where people of a chat find a file that they were sent, by its path below
	// Files; empty: the platform sends it. Nil: every platform does.
	Link func(key messages.ChatKey, name string) string
}

// Send is the tool chat_send.
type Send struct{ opts Options }

// NewSend makes the tool.
func NewSend(o Options) *Send { return &Send{opts: o} }

// Spec implements [tool.Tool]. A call may be repeated: it owes its message once.
func (s *Send) Spec() tool.Spec {
	return tool.Spec{
		Name: SendName, Title: "Send message", Description: strings.TrimSpace(sendText),
		InputSchema: json.RawMessage(sendSchema), Repeatable: true,
	}
}

// Invoke implements [tool.Tool].
func (s *Send) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Text        string       `json:"text"`
		ReplyTo     string       `json:"replyTo"`
		Attachments []attachment `json:"attachments"`
		Final       bool         `json:"final"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	if strings.TrimSpace(in.Text) == "" && len(in.Attachments) == 0 {
		return report(tool.Delivery{Skipped: "empty"}).result("")
	}
	refs, err := s.files(call, in.Attachments)
	if err != nil {
		return tool.Result{}, err
	}
	d, err := call.Egress.Send(ctx, call.ID, tool.Outgoing{Text: in.Text, ReplyTo: in.ReplyTo, Files: refs})
	if err != nil {
		return tool.Result{}, fmt.Errorf("send: %w", err)
	}
	a := report(d)
	a.Files = s.found(call, d, refs)
	final := in.Final && said(d)
	switch {
	case final && !call.Run.Sole:
		a.Note = strings.TrimSpace(a.Note + " The run goes on: final counts only when this is the step's only call.")
	case final && !call.Run.LaneEmpty:
		a.Note = strings.TrimSpace(a.Note + " The run goes on: new messages have arrived.")
	}
	result, err := a.result(in.Text)
	result.Final = final && call.Run.Sole && call.Run.LaneEmpty
	return result, err
}

// said reports whether the people have the message or will have it.
func said(d tool.Delivery) bool {
	return !d.Parked && (d.Skipped == "" || d.Skipped == "duplicate")
}
