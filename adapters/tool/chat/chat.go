// Package chat has the tools that send messages to people: chat_send answers in the run's own chat, chat_send_file
// sends a file where the text is the answer, and chat_contact_send writes to another chat. They add their messages to
// the outbox, so that none is lost or sent twice; the state of delivery is the call's result. Mistakes that a model
// can correct itself, such as an empty text or too many calls, are results and not errors.
package chat

import (
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// answer is the result of a call for the model.
type answer struct {
	Delivered bool   `json:"delivered"`
	Parts     int    `json:"parts,omitempty"`
	Skipped   string `json:"skipped,omitempty"`
	Note      string `json:"note,omitempty"`
	// Files are the files that people access by a link.
	Files []sentFile `json:"files,omitempty"`
}

// report describes a delivery.
func report(d tool.Delivery) answer {
	a := answer{Delivered: d.Delivered, Parts: d.Parts, Skipped: d.Skipped}
	switch {
	case d.Skipped == "duplicate":
		a.Note = "The same message was sent before; it was not sent again."
	case d.Skipped == "limit":
		a.Note = "Nothing was sent: this run has used up its messages. Finish now."
	case d.Skipped == "empty":
		a.Note = "Nothing was sent: there is neither text nor a file."
	case d.Skipped == "foreign_file":
		a.Note = "Nothing was sent: a fileId is not that of a file that somebody sent to this chat. Name a kept file by its path."
	case d.Skipped != "":
		a.Note = "Nothing was sent."
	case d.Parked:
		a.Note = "The platform refused it; a person has to look at it. Do not send it again."
	case !d.Delivered:
		a.Note = fmt.Sprintf("%d parts are delivered so far; the rest follows by itself. Do not send it again.", d.Parts)
	}
	return a
}

// maxSummary is how much of a text timelines show, in characters.
const maxSummary = 200

// result makes the result of a call from an answer.
func (a answer) result(summary string) (tool.Result, error) {
	return tool.Answer(a, tool.Head(summary, maxSummary))
}

// attachment is a file as named by the model.
type attachment struct {
	Path    string `json:"path"`
	FileID  string `json:"fileId"`
	Kind    string `json:"kind"`
	Caption string `json:"caption"`

	member string // of the input that names the file
}

// files converts attachments to references: to files of the chat, and to copies of files of the project. It makes
// these copies, which have the content that a person agreed to.
func (s *Send) files(call tool.Call, in []attachment) ([]messages.FileRef, error) {
	var out []messages.FileRef
	copies, err := s.copies(call, in)
	if err != nil {
		return nil, err
	}
	for i, a := range in {
		if (a.Path == "") == (a.FileID == "") {
			return nil, fmt.Errorf("%w: %s needs either path or fileId", tool.ErrInput, a.member)
		}
		ref := messages.FileRef{FileID: a.FileID, Kind: a.Kind, Caption: a.Caption}
		if copied := copies[i]; copied != "" {
			ref.Path = copied
		} else if a.Path != "" {
			path, err := s.opts.Files.Find(call.Run.ChatKey, a.Path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.member, err)
			}
			if ref.Path, err = s.own(call.Run.ChatKey, path); err != nil {
				return nil, fmt.Errorf("%s: %w", a.member, err)
			}
		}
		out = append(out, ref)
	}
	return out, nil
}
