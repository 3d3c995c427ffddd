package uimessage

import "github.com/shipmyagent/shipmyagent/messages/internal/rawjson"

func (r *reader) tool(v []byte, name string) Part {
	p := Tool{Dynamic: name == typeDynamicTool}
	if p.Dynamic {
		p.Unnamed = true
	} else {
		p.Name = name[len(prefixTool):]
	}
	seen := false
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "type":
		case "toolCallId":
			r.Str("toolCallId", v, &p.ToolCallID)
			seen = true
		case "toolName":
			r.toolName(&p, k, v)
		case "dynamic":
			r.dynamic(&p, k, v)
		case "state":
			r.Str("state", v, (*string)(&p.State))
		case "title":
			r.Opt(&p.Extra, k, v, &p.Title)
		case "approval":
			r.approval(&p, k, v)
		default:
			r.toolRest(&p, k, v)
		}
	}
	r.Need(seen, "toolCallId")
	r.Need(p.State != "", "state")
	return p
}

// toolRest reads what comes in and what came out.
func (r *reader) toolRest(p *Tool, k, v []byte) {
	switch string(k) {
	case "input":
		p.Input = rawjson.Compact(v)
	case "rawInput":
		p.RawInput = rawjson.Compact(v)
	case "inputEncoding":
		r.Word(&p.Extra, k, v, &p.InputEncoding)
	case "output":
		p.Output = rawjson.Compact(v)
	case "errorText":
		r.Opt(&p.Extra, k, v, &p.ErrorText)
	case "preliminary":
		r.Flag(&p.Extra, k, v, &p.Preliminary)
	case "providerExecuted":
		r.Flag(&p.Extra, k, v, &p.ProviderExecuted)
	case "toolMetadata":
		p.ToolMetadata = rawjson.Compact(v)
	case "callProviderMetadata":
		p.CallProviderMetadata = rawjson.Compact(v)
	case "resultProviderMetadata":
		p.ResultProviderMetadata = rawjson.Compact(v)
	default:
		rawjson.Extra(&p.Extra, k, v)
	}
}

// toolName belongs to dynamic parts; a static part's name is in its type.
func (r *reader) toolName(p *Tool, k, v []byte) {
	if !p.Dynamic {
		rawjson.Extra(&p.Extra, k, v)
		return
	}
	r.Str("toolName", v, &p.Name)
	p.Unnamed = false
}

func (r *reader) dynamic(p *Tool, k, v []byte) {
	if p.Dynamic && string(v) == "false" {
		p.WasStatic = true
		return
	}
	rawjson.Extra(&p.Extra, k, v)
}

func (r *reader) approval(p *Tool, k, v []byte) {
	switch rawjson.KindOf(v) {
	case rawjson.Null:
		rawjson.Extra(&p.Extra, k, v)
		return
	case rawjson.Object:
	default:
		r.Fail("approval", "want an object")
		return
	}
	a := &Approval{}
	at := reader{rawjson.Reader{Path: rawjson.Join(r.Path, "approval")}}
	seen := false
	for k, v := range rawjson.Members(v) {
		switch string(k) {
		case "id":
			at.Str("id", v, &a.ID)
			seen = true
		case "approved":
			at.Flag(&a.Extra, k, v, &a.Approved)
		case "reason":
			at.Opt(&a.Extra, k, v, &a.Reason)
		case "signature":
			at.Opt(&a.Extra, k, v, &a.Signature)
		case "descriptor":
			a.Descriptor = rawjson.Compact(v)
		case "inputSchemaInput":
			a.InputSchemaInput = rawjson.Compact(v)
		default:
			rawjson.Extra(&a.Extra, k, v)
		}
	}
	at.Need(seen, "id")
	if r.Err == nil {
		r.Err = at.Err
	}
	p.Approval = a
}
