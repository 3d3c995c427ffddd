package loop

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// emit appends a chunk, unless it is nil, and the metadata of its kind.
func (l *Loop) emit(out []uistream.Chunk, kind string, c uistream.Chunk) []uistream.Chunk {
	if c != nil {
		out = append(out, c)
	}
	if md := l.metadata(kind); md != nil {
		out = append(out, uistream.MessageMetadata{Metadata: md})
	}
	return out
}

func (l *Loop) metadata(kind string) json.RawMessage {
	if l.cfg.Metadata == nil {
		return nil
	}
	return l.cfg.Metadata(kind)
}

func (l *Loop) errorText(err error) string {
	if l.cfg.ErrorText == nil {
		return "An error occurred."
	}
	return l.cfg.ErrorText(err)
}

func (l *Loop) toolError(c Call, err error) uistream.ToolOutputError {
	return uistream.ToolOutputError{
		ToolCallID: c.ID, ErrorText: l.errorText(err),
		ProviderMetadata: c.ProviderMetadata,
		ToolMetadata:     l.toolMetadata(c.Name),
		Dynamic:          l.dynamic(c.Name, uimessage.Optional[bool]{}),
	}
}

// dynamic is the member of a chunk that says whether its tool is dynamic; calls of unknown tools
// say so themselves.
func (l *Loop) dynamic(tool string, said uimessage.Optional[bool]) uimessage.Optional[bool] {
	t, known := l.tool(tool)
	switch {
	case !known:
		return said
	case t.Dynamic:
		return uimessage.Some(true)
	default:
		return uimessage.Optional[bool]{}
	}
}

// tool finds a tool of the run by a linear search: most runs call none, and there are few.
func (l *Loop) tool(name string) (Tool, bool) {
	for _, t := range slices.Backward(l.cfg.Tools) {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func (l *Loop) toolMetadata(name string) json.RawMessage {
	t, _ := l.tool(name)
	return t.Metadata
}

// active returns the tool if the model may call it.
func (l *Loop) active(name string) (Tool, bool) {
	t, ok := l.tool(name)
	if ok && l.cfg.ActiveTools != nil {
		ok = slices.Contains(l.cfg.ActiveTools, name)
	}
	return t, ok
}

// idReserver keeps part ids unique in a stream of several model calls, each of which may number
// from 0 again.
type idReserver struct{ used map[string]struct{} }

func (r *idReserver) reserve(id string, newID func() string) string {
	if r.used == nil {
		r.used = map[string]struct{}{}
	}
	for _, taken := r.used[id]; taken; _, taken = r.used[id] {
		id = newID()
	}
	r.used[id] = struct{}{}
	return id
}

func (r *idReserver) release(ids []string) {
	for _, id := range ids {
		delete(r.used, id)
	}
}

// flag is a member that is present only when it is true.
func flag(b bool) uimessage.Optional[bool] {
	if !b {
		return uimessage.Optional[bool]{}
	}
	return uimessage.Some(true)
}
