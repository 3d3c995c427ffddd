package chat

import (
	"context"
	"embed"
	"fmt"
	"os"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// SendName is the name of the tool that answers people.
const SendName = "chat_send"

//go:embed *.md *.schema.json
var docs embed.FS

// Options configure the tools.
type Options struct {
	// Files are the files of chats, which may be attached. A chat cannot send files of another.
	Files tool.ChatFiles
	// Open opens a file of the project that tools may read, and returns its path without links. Without it, files of
	// the project cannot be sent.
	Open func(path string) (f *os.File, name string, err error)
	// Link returns the link by which people of a chat access a file, by its path below the root of Files. It is empty, and Link may
	// be nil, if the platform delivers files itself.
	Link func(key messages.ChatKey, name string) string
}

// Send is the tool chat_send.
type Send struct {
	tool.Described

	opts Options
}

// NewSend makes the tool. A repeated call does not send its message again.
func NewSend(o Options) *Send {
	return &Send{tool.DescribedBy(docs, "send", &tool.Spec{Name: SendName, Title: "Send message", Repeatable: true}), o}
}

// Invoke implements [tool.Tool].
func (s *Send) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Text        string       `json:"text"`
		ReplyTo     string       `json:"replyTo"`
		Attachments []attachment `json:"attachments"`
		Final       bool         `json:"final"`
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	if strings.TrimSpace(in.Text) == "" && len(in.Attachments) == 0 {
		return report(tool.Delivery{Skipped: "empty"}).result("")
	}
	refs, err := s.files(call, named(in.Attachments))
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

// said reports whether people have the message or will get it.
func said(d tool.Delivery) bool {
	return !d.Parked && (d.Skipped == "" || d.Skipped == "duplicate")
}
