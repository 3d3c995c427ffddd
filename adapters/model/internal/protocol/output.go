package protocol

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// AppendSchema appends the schema of a tool's input, or that of any object if it is not valid JSON.
func AppendSchema(dst []byte, schema json.RawMessage) []byte {
	if IsNull(schema) || !json.Valid(schema) {
		return append(dst, `{"type":"object","properties":{}}`...)
	}
	return modelmessage.AppendJSON(dst, schema)
}

// AppendOutput appends a tool result as one JSON string, which is empty only if the result and
// placeholder are.
func AppendOutput(dst []byte, o modelmessage.Output, placeholder string) []byte {
	text := o.Text
	switch o.Type {
	case modelmessage.OutputText, modelmessage.OutputErrorText:
	case modelmessage.OutputExecutionDenied:
		text = o.Reason.Or(DeniedText)
	case modelmessage.OutputJSON, modelmessage.OutputErrorJSON, modelmessage.OutputContent:
		if len(o.JSON) > 0 {
			return AppendQuotedJSON(dst, o.JSON)
		}
	}
	return AppendString(dst, cmp.Or(text, placeholder))
}

// Content calls f for each part of a result with content: with a file, or with a text if file is
// nil.
func Content(raw json.RawMessage, f func(text string, file *File)) {
	gjson.ParseBytes(raw).ForEach(func(_, item gjson.Result) bool {
		part := lenient.Object(item)
		file := &File{MediaType: lenient.String(part.Get("mediaType")), Base64: lenient.String(part.Get("data")), Link: lenient.String(part.Get("url"))}
		if name := lenient.String(part.Get("filename")); name != "" {
			file.Filename = uimessage.Some(name)
		}
		switch kind := lenient.String(part.Get("type")); kind {
		case "text":
			if text := lenient.String(part.Get("text")); strings.TrimSpace(text) != "" {
				f(text, nil)
			}
		case "image-data", "file-data":
			f("", file)
		case "image-url":
			file.MediaType = "image/*"
			f("", file)
		case "file-url":
			file.MediaType = "application/pdf"
			f("", file)
		default:
			f("[content of kind "+kind+" cannot be shown to this model]", nil)
		}
		return true
	})
}

// Note is what the model reads instead of a file that it cannot be shown.
func (f *File) Note() string {
	return fmt.Sprintf("[%s (%s) cannot be shown to this model]", cmp.Or(f.Filename.Value, "file"), f.MediaType)
}
