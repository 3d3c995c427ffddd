package loop

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// fault is the chunk of an error that does not belong to a call.
func (l *Loop) fault(err error) uistream.Chunk {
	return uistream.Error{ErrorText: l.errorText(err)}
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
