package loop

import (
	"encoding/json"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// AppendEvent handles one event of the model and appends the chunks that it produces.
func (l *Loop) AppendEvent(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	if l.mute || l.closed || ev.Kind == model.EventStreamStart {
		return out
	}
	s := &l.step
	if !s.started {
		s.started = true
		out = append(out, uistream.StartStep{})
	}
	switch ev.Kind {
	case model.EventTextStart, model.EventTextDelta, model.EventTextEnd:
		return l.text(out, ev)
	case model.EventReasoningStart, model.EventReasoningDelta, model.EventReasoningEnd:
		return l.reasoning(out, ev)
	case model.EventToolInputStart, model.EventToolInputDelta, model.EventToolInputEnd:
		return l.toolInput(out, ev)
	case model.EventToolCall:
		return l.toolCall(out, ev)
	case model.EventToolResult:
		return l.toolResult(out, ev)
	case model.EventToolApproval:
		return l.providerApproval(out, ev)
	case model.EventFile:
		return l.file(out, ev)
	case model.EventSource:
		return l.source(out, ev)
	case model.EventError:
		s.terminal = true
		if !s.finished {
			s.err = ev.Err
			s.finish = model.FinishReason{Unified: string(uistream.FinishError)}
		}
		return append(out, l.fault(ev.Err))
	case model.EventFinish:
		s.terminal, s.finished, s.err = true, true, nil
		s.finish, s.usage = ev.Finish, ev.Usage
		return out
	case model.EventStreamStart, model.EventResponseMetadata, model.EventRaw:
		return out
	default:
		return out
	}
}

func (l *Loop) text(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	s := &l.step
	s.output = true
	id, open := s.texts[ev.ID]
	if !open {
		id = ev.ID
	}
	var missing bool
	switch ev.Kind {
	case model.EventTextStart:
		id = l.textIDs.reserve(ev.ID, l.cfg.NewID)
		s.reservedTexts = append(s.reservedTexts, id)
		s.texts[ev.ID] = id
		return append(out, uistream.TextStart{ID: id, ProviderMetadata: ev.ProviderMetadata})
	case model.EventTextDelta:
		if ev.Delta == "" && ev.ProviderMetadata == nil {
			return out
		}
		missing = !open
		s.said = s.said || !uimessage.IsBlank(ev.Delta)
		out = append(out, uistream.TextDelta{ID: id, Delta: ev.Delta, ProviderMetadata: ev.ProviderMetadata})
	default:
		missing = !open
		delete(s.texts, ev.ID)
		out = append(out, uistream.TextEnd{ID: id, ProviderMetadata: ev.ProviderMetadata})
	}
	if missing {
		return l.missing(out, "text", id)
	}
	return out
}

func (l *Loop) reasoning(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	s := &l.step
	s.output = true
	id, open := s.reasoning[ev.ID]
	if !open {
		id = ev.ID
	}
	var c uistream.Chunk
	switch ev.Kind {
	case model.EventReasoningStart:
		id = l.reasoningIDs.reserve(ev.ID, l.cfg.NewID)
		s.reservedReasoning = append(s.reservedReasoning, id)
		s.reasoning[ev.ID], open = id, true
		c = uistream.ReasoningStart{ID: id, ProviderMetadata: ev.ProviderMetadata}
	case model.EventReasoningDelta:
		s.reasoned = s.reasoned || !uimessage.IsBlank(ev.Delta)
		c = uistream.ReasoningDelta{ID: id, Delta: ev.Delta, ProviderMetadata: ev.ProviderMetadata}
	default:
		delete(s.reasoning, ev.ID)
		c = uistream.ReasoningEnd{ID: id, ProviderMetadata: ev.ProviderMetadata}
	}
	out = append(out, c)
	if !open {
		return l.missing(out, "reasoning", id)
	}
	return out
}

// missing reports output for a block that was never opened.
func (l *Loop) missing(out []uistream.Chunk, kind, id string) []uistream.Chunk {
	return append(out, l.fault(fmt.Errorf("%s part %s not found", kind, id)))
}

func (l *Loop) toolInput(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	l.step.output = true
	switch ev.Kind {
	case model.EventToolInputStart:
		t, known := l.tool(ev.ToolName)
		c := uistream.ToolInputStart{
			ToolCallID: ev.ID, ToolName: ev.ToolName,
			ProviderExecuted: flag(ev.ProviderExecuted),
			ProviderMetadata: ev.ProviderMetadata,
			Dynamic:          l.dynamic(ev.ToolName, uimessage.Some(ev.Dynamic || known && t.Dynamic)),
		}
		if known && t.Title != "" {
			c.Title = uimessage.Some(t.Title)
		}
		return append(out, c)
	case model.EventToolInputDelta:
		return append(out, uistream.ToolInputDelta{ToolCallID: ev.ID, Delta: ev.Delta})
	default:
		return out
	}
}

func (l *Loop) file(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	l.step.output, l.step.said = true, true
	var f struct {
		MediaType string `json:"mediaType"`
		Data      string `json:"data"`
	}
	if err := json.Unmarshal(ev.Raw, &f); err != nil {
		return append(out, l.fault(err))
	}
	return append(out, uistream.File{
		MediaType: f.MediaType, URL: "data:" + f.MediaType + ";base64," + f.Data,
		ProviderMetadata: ev.ProviderMetadata,
	})
}

func (l *Loop) source(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	l.step.output = true
	if !l.cfg.SendSources {
		return out
	}
	var s struct {
		SourceType string  `json:"sourceType"`
		ID         string  `json:"id"`
		URL        string  `json:"url"`
		MediaType  string  `json:"mediaType"`
		Title      *string `json:"title"`
		Filename   *string `json:"filename"`
	}
	if err := json.Unmarshal(ev.Raw, &s); err != nil {
		return append(out, l.fault(err))
	}
	switch s.SourceType {
	case "url":
		return append(out, uistream.SourceURL{SourceID: s.ID, URL: s.URL, Title: optional(s.Title), ProviderMetadata: ev.ProviderMetadata})
	case "document":
		return append(out, uistream.SourceDocument{
			SourceID: s.ID, MediaType: s.MediaType, Title: optional(s.Title).Value,
			Filename: optional(s.Filename), ProviderMetadata: ev.ProviderMetadata,
		})
	default:
		return out
	}
}

func optional(s *string) uimessage.Optional[string] {
	if s == nil {
		return uimessage.Optional[string]{}
	}
	return uimessage.Some(*s)
}
