package uistream

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// pass is what a walk over the members of a chunk does.
type pass byte

const (
	writing  pass = iota // append every member that is present
	reading              // take the member at hand, if it is one of these
	checking             // note the required members that were not read
)

// fields walks the members of a chunk. One description of a chunk, its method
// members, serves encoding and decoding.
type fields struct {
	pass pass
	w    rawjson.Writer
	r    rawjson.Reader
	// key and value are the member at hand.
	key, value []byte
	matched    bool
	// seen has a bit for every member read, counted by at.
	seen uint32
	at   uint
}

// take reports whether the member at hand is this one.
func (f *fields) take(name string) bool {
	f.at++
	if f.pass != reading || f.matched || string(f.key) != name {
		return false
	}
	f.matched = true
	f.seen |= 1 << f.at
	return true
}

func (f *fields) str(name string, to *string) {
	taken := f.take(name)
	switch f.pass {
	case writing:
		f.w.Str(name, *to)
	case reading:
		if taken {
			f.r.Str(name, f.value, to)
		}
	case checking:
		f.r.Need(f.seen&(1<<f.at) != 0, name)
	}
}

func (f *fields) word(name string, to *string, extra *[]uimessage.Member) {
	if f.take(name) {
		f.r.Word(extra, f.key, f.value, to)
	} else if f.pass == writing {
		f.w.NonEmpty(name, *to)
	}
}

func (f *fields) opt(name string, to *uimessage.Optional[string], extra *[]uimessage.Member) {
	if f.take(name) {
		f.r.Opt(extra, f.key, f.value, to)
	} else if f.pass == writing {
		f.w.Opt(name, *to)
	}
}

func (f *fields) flag(name string, to *uimessage.Optional[bool], extra *[]uimessage.Member) {
	if f.take(name) {
		f.r.Flag(extra, f.key, f.value, to)
	} else if f.pass == writing {
		f.w.Flag(name, *to)
	}
}

func (f *fields) raw(name string, to *json.RawMessage) {
	if f.take(name) {
		*to = rawjson.Compact(f.value)
	} else if f.pass == writing {
		f.w.Raw(name, *to)
	}
}

// rest stands last: it takes and writes what no other member is.
func (f *fields) rest(extra *[]uimessage.Member) {
	switch {
	case f.pass == writing:
		f.w.Members(*extra)
	case f.pass == reading && !f.matched:
		rawjson.Extra(extra, f.key, f.value)
	}
}

func (c *Start) members(f *fields) {
	f.opt("messageId", &c.MessageID, &c.Extra)
	f.raw("messageMetadata", &c.Metadata)
	f.rest(&c.Extra)
}

func (c *Finish) members(f *fields) {
	f.word("finishReason", (*string)(&c.Reason), &c.Extra)
	f.raw("messageMetadata", &c.Metadata)
	f.rest(&c.Extra)
}

func (c *Abort) members(f *fields) {
	f.opt("reason", &c.Reason, &c.Extra)
	f.rest(&c.Extra)
}

func (c *MessageMetadata) members(f *fields) {
	f.raw("messageMetadata", &c.Metadata)
	f.rest(&c.Extra)
}

func (c *StartStep) members(f *fields)  { f.rest(&c.Extra) }
func (c *FinishStep) members(f *fields) { f.rest(&c.Extra) }

func (c *Error) members(f *fields) {
	f.str("errorText", &c.ErrorText)
	f.rest(&c.Extra)
}

func (f *fields) open(id *string, metadata *json.RawMessage, extra *[]uimessage.Member) {
	f.str("id", id)
	f.raw("providerMetadata", metadata)
	f.rest(extra)
}

func (f *fields) delta(id, delta *string, metadata *json.RawMessage, extra *[]uimessage.Member) {
	f.str("id", id)
	f.str("delta", delta)
	f.raw("providerMetadata", metadata)
	f.rest(extra)
}

func (c *TextStart) members(f *fields)      { f.open(&c.ID, &c.ProviderMetadata, &c.Extra) }
func (c *TextDelta) members(f *fields)      { f.delta(&c.ID, &c.Delta, &c.ProviderMetadata, &c.Extra) }
func (c *TextEnd) members(f *fields)        { f.open(&c.ID, &c.ProviderMetadata, &c.Extra) }
func (c *ReasoningStart) members(f *fields) { f.open(&c.ID, &c.ProviderMetadata, &c.Extra) }
func (c *ReasoningDelta) members(f *fields) {
	f.delta(&c.ID, &c.Delta, &c.ProviderMetadata, &c.Extra)
}
func (c *ReasoningEnd) members(f *fields) { f.open(&c.ID, &c.ProviderMetadata, &c.Extra) }

func (c *ToolInputStart) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.str("toolName", &c.ToolName)
	f.word("inputEncoding", &c.InputEncoding, &c.Extra)
	f.flag("providerExecuted", &c.ProviderExecuted, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.raw("toolMetadata", &c.ToolMetadata)
	f.flag("dynamic", &c.Dynamic, &c.Extra)
	f.opt("title", &c.Title, &c.Extra)
	f.rest(&c.Extra)
}

func (c *ToolInputDelta) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.str("inputTextDelta", &c.Delta)
	f.rest(&c.Extra)
}

func (c *ToolInputAvailable) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.str("toolName", &c.ToolName)
	f.raw("input", &c.Input)
	f.flag("providerExecuted", &c.ProviderExecuted, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.raw("toolMetadata", &c.ToolMetadata)
	f.flag("dynamic", &c.Dynamic, &c.Extra)
	f.opt("title", &c.Title, &c.Extra)
	f.rest(&c.Extra)
}

func (c *ToolInputError) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.str("toolName", &c.ToolName)
	f.raw("input", &c.Input)
	f.flag("providerExecuted", &c.ProviderExecuted, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.raw("toolMetadata", &c.ToolMetadata)
	f.flag("dynamic", &c.Dynamic, &c.Extra)
	f.str("errorText", &c.ErrorText)
	f.opt("title", &c.Title, &c.Extra)
	f.rest(&c.Extra)
}

func (c *ToolApprovalRequest) members(f *fields) {
	f.str("approvalId", &c.ApprovalID)
	f.str("toolCallId", &c.ToolCallID)
	f.raw("approvalDescriptor", &c.Descriptor)
	f.raw("inputSchemaInput", &c.InputSchemaInput)
	f.opt("signature", &c.Signature, &c.Extra)
	f.rest(&c.Extra)
}

func (c *ToolOutputAvailable) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.raw("output", &c.Output)
	f.flag("providerExecuted", &c.ProviderExecuted, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.raw("toolMetadata", &c.ToolMetadata)
	f.flag("dynamic", &c.Dynamic, &c.Extra)
	f.flag("preliminary", &c.Preliminary, &c.Extra)
	f.rest(&c.Extra)
}

func (c *ToolOutputError) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.str("errorText", &c.ErrorText)
	f.flag("providerExecuted", &c.ProviderExecuted, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.raw("toolMetadata", &c.ToolMetadata)
	f.flag("dynamic", &c.Dynamic, &c.Extra)
	f.rest(&c.Extra)
}

func (c *ToolOutputDenied) members(f *fields) {
	f.str("toolCallId", &c.ToolCallID)
	f.rest(&c.Extra)
}

func (c *SourceURL) members(f *fields) {
	f.str("sourceId", &c.SourceID)
	f.str("url", &c.URL)
	f.opt("title", &c.Title, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.rest(&c.Extra)
}

func (c *SourceDocument) members(f *fields) {
	f.str("sourceId", &c.SourceID)
	f.str("mediaType", &c.MediaType)
	f.str("title", &c.Title)
	f.opt("filename", &c.Filename, &c.Extra)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.rest(&c.Extra)
}

func (c *File) members(f *fields) {
	f.str("url", &c.URL)
	f.str("mediaType", &c.MediaType)
	f.raw("providerMetadata", &c.ProviderMetadata)
	f.rest(&c.Extra)
}

func (c *Data) members(f *fields) {
	f.opt("id", &c.ID, &c.Extra)
	f.raw("data", &c.Data)
	f.flag("transient", &c.Transient, &c.Extra)
	f.rest(&c.Extra)
}

func (c Start) write(f *fields)               { c.members(f) }
func (c Finish) write(f *fields)              { c.members(f) }
func (c Abort) write(f *fields)               { c.members(f) }
func (c MessageMetadata) write(f *fields)     { c.members(f) }
func (c StartStep) write(f *fields)           { c.members(f) }
func (c FinishStep) write(f *fields)          { c.members(f) }
func (c Error) write(f *fields)               { c.members(f) }
func (c TextStart) write(f *fields)           { c.members(f) }
func (c TextDelta) write(f *fields)           { c.members(f) }
func (c TextEnd) write(f *fields)             { c.members(f) }
func (c ReasoningStart) write(f *fields)      { c.members(f) }
func (c ReasoningDelta) write(f *fields)      { c.members(f) }
func (c ReasoningEnd) write(f *fields)        { c.members(f) }
func (c ToolInputStart) write(f *fields)      { c.members(f) }
func (c ToolInputDelta) write(f *fields)      { c.members(f) }
func (c ToolInputAvailable) write(f *fields)  { c.members(f) }
func (c ToolInputError) write(f *fields)      { c.members(f) }
func (c ToolApprovalRequest) write(f *fields) { c.members(f) }
func (c ToolOutputAvailable) write(f *fields) { c.members(f) }
func (c ToolOutputError) write(f *fields)     { c.members(f) }
func (c ToolOutputDenied) write(f *fields)    { c.members(f) }
func (c SourceURL) write(f *fields)           { c.members(f) }
func (c SourceDocument) write(f *fields)      { c.members(f) }
func (c File) write(f *fields)                { c.members(f) }
func (c Data) write(f *fields)                { c.members(f) }

// write writes nothing: AppendJSON appends an unknown chunk as it came.
func (Unknown) write(*fields) {}
