package protocol

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Message is a message of the provider-level prompt: it contains nothing specific to the
// SDK's own messages, and links are resolved.
type Message struct {
	Role    modelmessage.Role
	Parts   []Part
	Options json.RawMessage
}

// Part is a part that needs no change, or a resolved file.
type Part struct {
	Part modelmessage.Part
	File *File // set for a file; Part is then its source
}

// File is a file with exactly one of base64, bytes and link.
type File struct {
	MediaType string
	Filename  uimessage.Optional[string]
	Base64    string
	Bytes     []byte
	Link      string
	// Original is the original link, if normalizing changed it.
	Original string
	// Missing means that the link cannot be loaded.
	Missing bool
	Options json.RawMessage
}

// Prompter turns model messages into prompt messages.
type Prompter struct {
	// TakesLink reports which links the model loads itself.
	TakesLink func(mediaType, link string) bool
	// Download loads the others. Hosts do not set it: such a file becomes a note.
	Download func(ctx context.Context, link string) (data []byte, mediaType string, err error)
	// Sight says which stored files the model is shown, and Load reads them; both may be nil.
	Sight Sight
	Load  func(ctx context.Context, link string) ([]byte, error)
}

// Sight is what is known about the content that a model accepts.
type Sight interface {
	// Takes reports whether a stored file is sent.
	Takes(mediaType, link string) bool
	// TakesThought reports whether a block of thinking is sent back.
	TakesThought(id string) bool
	// Revision changes whenever the knowledge changes.
	Revision() int
}

// Message converts one message. Unlike in the SDK, consecutive tool messages need no merging: in
// the request each result is a message of its own.
func (p *Prompter) Message(ctx context.Context, m modelmessage.Message) (Message, error) {
	out := Message{Role: m.Role, Options: m.ProviderOptions}
	if m.Parts == nil {
		out.Parts = []Part{{Part: modelmessage.Text{Text: m.Text}}}
		return out, nil
	}
	out.Parts = make([]Part, 0, len(m.Parts))
	for _, part := range m.Parts {
		if dropped(m.Role, part) {
			continue
		}
		converted, err := p.part(ctx, m.Role, part)
		if err != nil {
			return Message{}, err
		}
		out.Parts = append(out.Parts, converted)
	}
	if m.Role == modelmessage.RoleUser {
		return p.stored(ctx, out)
	}
	return out, nil
}

// dropped reports which parts are never sent to a provider.
func dropped(role modelmessage.Role, part modelmessage.Part) bool {
	switch part := part.(type) {
	case modelmessage.Text:
		return part.Text == "" && (role == modelmessage.RoleUser || IsNull(part.ProviderOptions))
	case modelmessage.ApprovalRequest:
		return true
	case modelmessage.ApprovalResponse:
		return !part.ProviderExecuted.Value
	case modelmessage.Reasoning, modelmessage.Image, modelmessage.File, modelmessage.ToolCall, modelmessage.ToolResult:
	}
	return false
}

func (p *Prompter) part(ctx context.Context, role modelmessage.Role, part modelmessage.Part) (Part, error) {
	var file *File
	var err error
	switch part := part.(type) {
	case modelmessage.Image:
		file, err = p.file(ctx, role, part.Image, part.MediaType, part.ProviderOptions)
		if err == nil {
			err = sniffImage(file)
		}
	case modelmessage.File:
		file, err = p.file(ctx, role, part.Data, part.MediaType, part.ProviderOptions)
		if err == nil {
			file.Filename = part.Filename
		}
	case modelmessage.ToolResult:
		if part.Output.Type == modelmessage.OutputContent {
			part.Output.JSON, err = modelContent(part.Output.JSON)
		}
		return Part{Part: part}, err
	case modelmessage.Text, modelmessage.Reasoning, modelmessage.ToolCall, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
	}
	return Part{Part: part, File: file}, err
}

// file resolves the content of a file part: base64, a data URL or a link. Only links in user
// messages are downloaded.
func (p *Prompter) file(ctx context.Context, role modelmessage.Role, data, mediaType string, options json.RawMessage) (*File, error) {
	f := &File{MediaType: mediaType, Options: options}
	if _, _, ok := messages.PictureOf(data); ok {
		f.Missing = true // until it is loaded
		return f, nil
	}
	link, isLink := normaliseLink(data)
	switch {
	case isLink && strings.HasPrefix(link, "data:"):
		header, body, found := strings.Cut(data, ",")
		kind, _, _ := strings.Cut(header[len("data:"):], ";")
		if !found || kind == "" {
			return nil, fmt.Errorf("%w: not a data URL", ErrBadData)
		}
		f.MediaType, f.Base64 = kind, body
	case isLink:
		f.Link = link
		if link != data {
			f.Original = data
		}
		if role == modelmessage.RoleUser && !p.TakesLink(mediaType, link) {
			return f, p.loadLink(ctx, f)
		}
	default:
		f.Base64 = data
	}
	return f, nil
}

func (p *Prompter) loadLink(ctx context.Context, f *File) error {
	if p.Download == nil {
		f.Missing = true
		return nil
	}
	data, mediaType, err := p.Download(ctx, f.Link)
	if err != nil {
		return fmt.Errorf("download file: %w", err)
	}
	f.Bytes, f.Link, f.Original = data, "", ""
	if f.MediaType == "" {
		f.MediaType = mediaType
	}
	return nil
}

// normaliseLink parses data as a URL like a browser; ok is false if it is not a URL, which includes
// all base64 text.
func normaliseLink(data string) (link string, ok bool) {
	if len(data) >= len("data:") && strings.EqualFold(data[:len("data:")], "data:") {
		return "data:", true
	}
	if !strings.Contains(data, ":") {
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(data))
	if err != nil || u.Scheme == "" {
		return "", false
	}
	u.Host = strings.ToLower(u.Host)
	if u.Host != "" && u.Path == "" {
		u.Path = "/"
	}
	return u.String(), true
}

// sniffImage detects the type of a picture from its bytes, which take precedence over the declared
// type.
func sniffImage(f *File) error {
	data := f.Bytes
	if f.Base64 != "" {
		decoded, err := decodeBase64(f.Base64)
		if err != nil {
			return err
		}
		data = decoded
	}
	if found := http.DetectContentType(data); strings.HasPrefix(found, "image/") {
		f.MediaType = found
	}
	if f.MediaType == "" {
		f.MediaType = "image/*"
	}
	return nil
}

// Encoded returns the file as base64.
func (f *File) Encoded() string {
	if f.Bytes != nil {
		return base64.StdEncoding.EncodeToString(f.Bytes)
	}
	return f.Base64
}

// DataURL returns the file as a data URL of a media type.
func (f *File) DataURL(mediaType string) string {
	return "data:" + mediaType + ";base64," + f.Encoded()
}

// Decoded returns the file as bytes.
func (f *File) Decoded() ([]byte, error) {
	if f.Bytes != nil {
		return f.Bytes, nil
	}
	return decodeBase64(f.Base64)
}

func decodeBase64(s string) ([]byte, error) {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64", ErrBadData)
	}
	return b, nil
}

// modelContent renames the content parts of older tools.
func modelContent(raw json.RawMessage) (json.RawMessage, error) {
	if !strings.Contains(string(raw), `"media"`) {
		return raw, nil
	}
	list := gjson.ParseBytes(raw)
	if !gjson.ValidBytes(raw) || !list.IsArray() {
		return nil, fmt.Errorf("%w: content of a tool result", ErrBadData)
	}
	out := []byte{'['}
	for i, item := range list.Array() {
		if i > 0 {
			out = append(out, ',')
		}
		part := lenient.Object(item)
		if lenient.String(part.Get("type")) != "media" {
			out = append(out, item.Raw...)
			continue
		}
		kind, mediaType := "file-data", lenient.String(part.Get("mediaType"))
		if strings.HasPrefix(mediaType, "image/") {
			kind = "image-data"
		}
		out = AppendString(append(out, `{"type":`...), kind)
		out = append(AppendMember(out, "data"), part.Get("data").Raw...)
		out = append(AppendString(AppendMember(out, "mediaType"), mediaType), '}')
	}
	return append(out, ']'), nil
}

// CheckResults reports calls without a result before the next user or system message or the end.
func CheckResults(messages []modelmessage.Message) error {
	open := map[string]bool{}
	var order []string
	unanswered := func() error {
		for _, id := range order {
			if open[id] {
				return fmt.Errorf("%w for tool call %s", ErrMissingResult, id)
			}
		}
		order = order[:0]
		return nil
	}
	for _, m := range messages {
		if m.Role == modelmessage.RoleUser || m.Role == modelmessage.RoleSystem {
			if err := unanswered(); err != nil {
				return err
			}
		}
		for _, part := range m.Parts {
			switch part := part.(type) {
			case modelmessage.ToolCall:
				if m.Role == modelmessage.RoleAssistant && !part.ProviderExecuted.Value {
					open[part.ToolCallID] = true
					order = append(order, part.ToolCallID)
				}
			case modelmessage.ToolResult:
				if m.Role == modelmessage.RoleTool {
					delete(open, part.ToolCallID)
				}
			case modelmessage.Text, modelmessage.Reasoning, modelmessage.Image, modelmessage.File, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
			}
		}
	}
	return unanswered()
}
