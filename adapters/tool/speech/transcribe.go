package speech

import (
	"context"
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// TranscribeName is the name of the tool that transcribes recordings.
const TranscribeName = "stt_transcribe"

// transcribeDeadline includes the time to wait for other recordings.
const transcribeDeadline = 3 * time.Minute

// TranscribeOptions configure the tool. All are required.
type TranscribeOptions struct {
	Listener *speech.Listener
	Files    tool.ChatFiles
	Logger   *slog.Logger
}

// Transcribe is the tool stt_transcribe.
type Transcribe struct {
	tool.Described

	o TranscribeOptions
}

// NewTranscribe makes the tool.
func NewTranscribe(o TranscribeOptions) *Transcribe {
	return &Transcribe{tool.DescribedBy(docs, "transcribe", &tool.Spec{
		Name: TranscribeName, Title: "Transcribe", ReadOnly: true, Repeatable: true, Deadline: transcribeDeadline,
	}), o}
}

// Invoke implements [tool.Tool].
func (t *Transcribe) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Path     string `json:"path"`
		Language string `json:"language"`
	}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	file, err := t.o.Files.Find(call.Run.ChatKey, in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	text, err := t.o.Listener.Hear(ctx, string(call.Run.ChatKey), speech.Audio{Path: file, Language: in.Language})
	if err != nil {
		t.o.Logger.WarnContext(ctx, "a recording could not be transcribed", "chat_key", string(call.Run.ChatKey), "run_id", call.Run.RunID, "request_id", call.Run.RequestID, "error", err)
		return tool.Result{}, failed("the recording could not be transcribed", err)
	}
	return tool.Answer(map[string]string{"text": text}, in.Path)
}
