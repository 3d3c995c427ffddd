package anthropic

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// fileBlock returns the block for a file of its media type, or a note about it.
func fileBlock(f *protocol.File) []byte {
	switch kind := f.MediaType; {
	case f.Missing:
	case kind == "image/*":
		return appendSource([]byte(`{"type":"image"`), f, "image/jpeg")
	case kind == "image/jpeg", kind == "image/png", kind == "image/gif", kind == "image/webp":
		return appendSource([]byte(`{"type":"image"`), f, kind)
	case kind == "application/pdf":
		return appendSource(appendTitle([]byte(`{"type":"document"`), f), f, kind)
	case strings.HasPrefix(kind, "text/"):
		text, err := f.Decoded()
		text = bytes.TrimPrefix(text, []byte("\uFEFF"))
		if err != nil || f.Link != "" || len(bytes.TrimSpace(text)) == 0 {
			break
		}
		dst := appendTitle([]byte(`{"type":"document"`), f)
		dst = append(dst, `,"source":{"type":"text","media_type":"text/plain","data":`...)
		return append(protocol.AppendString(dst, string(text)), '}', '}')
	}
	return textBlock(f.Note())
}

func appendTitle(dst []byte, f *protocol.File) []byte {
	if name := f.Filename.Value; name != "" {
		dst = protocol.AppendString(protocol.AppendMember(dst, "title"), name)
	}
	return dst
}

// appendSource appends where the bytes of a file are, and closes its block.
func appendSource(dst []byte, f *protocol.File, mediaType string) []byte {
	if f.Link != "" {
		dst = protocol.AppendString(append(dst, `,"source":{"type":"url","url":`...), f.Link)
		return append(dst, '}', '}')
	}
	dst = protocol.AppendString(append(dst, `,"source":{"type":"base64","media_type":`...), mediaType)
	dst = protocol.AppendString(protocol.AppendMember(dst, "data"), f.Encoded())
	return append(dst, '}', '}')
}

// document is a document of a request, to which citations refer by its number.
type document struct{ title, mediaType string }

// documentsOf returns the documents of a request in order. It is called only for an answer that
// cites.
func documentsOf(req model.Request) func() []document {
	return func() (out []document) {
		for _, m := range req.Messages {
			for _, part := range m.Parts {
				f, ok := part.(modelmessage.File)
				if !ok || f.MediaType != "application/pdf" && !strings.HasPrefix(f.MediaType, "text/") {
					continue
				}
				out = append(out, document{cmp.Or(f.Filename.Value, "file"), f.MediaType})
			}
		}
		return out
	}
}
