package uimessage

import "github.com/shipmyagent/shipmyagent/messages/internal/rawjson"

// AppendJSON appends m as one line of JSON and returns the extended slice. The
// order of members is fixed, unknown ones stand behind the known ones, and
// metadata is always the last. A raw value that is not JSON is written as a
// string of its bytes.
func AppendJSON(dst []byte, m Message) []byte {
	w := writer{rawjson.Writer{Buf: append(dst, '{')}}
	w.Str("id", m.ID)
	w.Str("role", string(m.Role))
	w.Members(m.Extra)
	if m.Parts != nil {
		w.Key("parts")
		w.Buf = AppendParts(w.Buf, m.Parts)
	}
	w.Raw("metadata", m.Metadata)
	return append(w.Buf, '}')
}

// AppendParts appends the parts as a JSON array.
func AppendParts(dst []byte, parts []Part) []byte {
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendPart(dst, p)
	}
	return append(dst, ']')
}

// AppendPart appends one part as JSON; a nil part is null.
func AppendPart(dst []byte, part Part) []byte {
	w := writer{rawjson.Writer{Buf: dst}}
	switch p := part.(type) {
	case nil:
		return append(dst, "null"...)
	case Unknown:
		return rawjson.Append(dst, p.Raw)
	case Tool:
		w.open(p.Type())
		w.tool(p)
	case Text:
		w.open(typeText)
		w.Str("text", p.Text)
		w.NonEmpty("state", string(p.State))
		w.Raw("providerMetadata", p.ProviderMetadata)
		w.Members(p.Extra)
	case Reasoning:
		w.open(typeReasoning)
		w.Opt("id", p.ID)
		w.Str("text", p.Text)
		w.NonEmpty("state", string(p.State))
		w.Raw("providerMetadata", p.ProviderMetadata)
		w.Members(p.Extra)
	case SourceURL:
		w.sourceURL(p)
	case SourceDocument:
		w.sourceDocument(p)
	case File:
		w.file(p)
	case Data:
		w.open(p.Type())
		w.Opt("id", p.ID)
		w.Raw("data", p.Data)
		w.Members(p.Extra)
	case StepStart:
		w.open(typeStepStart)
		w.Members(p.Extra)
	}
	return append(w.Buf, '}')
}

// MarshalJSON implements json.Marshaler with the bytes of AppendJSON.
func (m Message) MarshalJSON() ([]byte, error) { return AppendJSON(nil, m), nil }

// writer appends the members of one object.
type writer struct {
	rawjson.Writer
}

func (w *writer) open(partType string) {
	w.Buf = append(w.Buf, '{')
	w.Str("type", partType)
}

func (w *writer) tool(p Tool) {
	if p.Dynamic && !p.Unnamed {
		w.Str("toolName", p.Name)
	}
	if p.WasStatic {
		w.Key("dynamic")
		w.Buf = append(w.Buf, "false"...)
	}
	w.Str("toolCallId", p.ToolCallID)
	w.Str("state", string(p.State))
	w.Opt("title", p.Title)
	w.Raw("toolMetadata", p.ToolMetadata)
	w.Flag("providerExecuted", p.ProviderExecuted)
	w.Raw("input", p.Input)
	w.Raw("rawInput", p.RawInput)
	w.NonEmpty("inputEncoding", p.InputEncoding)
	w.Raw("callProviderMetadata", p.CallProviderMetadata)
	if p.Approval != nil {
		w.Key("approval")
		w.approval(p.Approval)
	}
	w.Raw("output", p.Output)
	w.Opt("errorText", p.ErrorText)
	w.Flag("preliminary", p.Preliminary)
	w.Raw("resultProviderMetadata", p.ResultProviderMetadata)
	w.Members(p.Extra)
}

func (w *writer) approval(a *Approval) {
	w.Buf = append(w.Buf, '{')
	w.Str("id", a.ID)
	w.Flag("approved", a.Approved)
	w.Opt("reason", a.Reason)
	w.Opt("signature", a.Signature)
	w.Raw("descriptor", a.Descriptor)
	w.Raw("inputSchemaInput", a.InputSchemaInput)
	w.Members(a.Extra)
	w.Buf = append(w.Buf, '}')
}

func (w *writer) sourceURL(p SourceURL) {
	w.open(typeSourceURL)
	w.Str("sourceId", p.SourceID)
	w.Str("url", p.URL)
	w.Opt("title", p.Title)
	w.Raw("providerMetadata", p.ProviderMetadata)
	w.Members(p.Extra)
}

func (w *writer) sourceDocument(p SourceDocument) {
	w.open(typeSourceDocument)
	w.Str("sourceId", p.SourceID)
	w.Str("mediaType", p.MediaType)
	w.Str("title", p.Title)
	w.Opt("filename", p.Filename)
	w.Raw("providerMetadata", p.ProviderMetadata)
	w.Members(p.Extra)
}

func (w *writer) file(p File) {
	w.open(typeFile)
	w.Str("mediaType", p.MediaType)
	w.Opt("filename", p.Filename)
	w.Str("url", p.URL)
	w.Raw("providerMetadata", p.ProviderMetadata)
	w.Members(p.Extra)
}
