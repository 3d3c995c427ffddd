package query

import (
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// The kinds of [Happening], in addition to those of frames.
const (
	HappenedWatching = "watching" // the chat is followed from now on; read it, and nothing is missed
	HappenedTool     = "tool"     // the model calls a tool
	HappenedAsks     = "asks"     // a call waits for a person's decision
)

// Happening is one thing that happens in a followed chat. It has no text of the answer in progress. Members are only
// ever added.
type Happening struct {
	Kind   string `json:"kind"`
	RunID  string `json:"runId,omitempty"`
	Name   string `json:"name,omitempty"` // of the tool, or of the event: see [platform.Event]
	Step   int    `json:"step,omitempty"`
	Text   string `json:"text,omitempty"`
	Last   bool   `json:"last,omitempty"`   // the run has ended
	Result string `json:"result,omitempty"` // of the run
}

// Happenings are what a frame of a watch reports.
func Happenings(f platform.Frame) []Happening {
	switch f.Kind {
	case platform.FrameStart, platform.FrameChunks:
		var out []Happening
		if f.Kind == platform.FrameStart {
			out = append(out, Happening{Kind: string(f.Kind), RunID: f.RunID})
		}
		for _, chunk := range f.Chunks {
			switch chunk := chunk.(type) {
			case uistream.ToolInputAvailable:
				out = append(out, Happening{Kind: HappenedTool, RunID: f.RunID, Name: chunk.ToolName})
			case uistream.ToolApprovalRequest:
				out = append(out, Happening{Kind: HappenedAsks, RunID: f.RunID})
			default: // the rest is in the message once it is complete
			}
		}
		return out
	case platform.FrameEvent:
		return []Happening{{Kind: string(f.Kind), RunID: f.RunID, Name: f.Event.Name, Step: f.Event.Step, Text: f.Event.Text}}
	case platform.FrameEnd, platform.FrameSettled:
		return []Happening{{Kind: string(f.Kind), RunID: f.RunID, Last: f.Last, Result: f.Result}}
	default:
		return nil
	}
}
