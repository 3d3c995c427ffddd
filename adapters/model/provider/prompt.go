package provider

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Errors of requests that can never be sent.
var (
	errNoMessages    = errors.New("invalid prompt: messages must not be empty")
	errMissingResult = errors.New("tool result is missing")
	errUnsupported   = errors.New("functionality not supported")
	errBadData       = errors.New("invalid data")
)

// promptMessage is a message of the provider-level prompt: it contains nothing specific to the
// SDK's own messages, and links are resolved.
type promptMessage struct {
	role    modelmessage.Role
	parts   []promptPart
	options json.RawMessage
}

// promptPart is a part that needs no change, or a resolved file.
type promptPart struct {
	part modelmessage.Part
	file *promptFile // set for a file; part is then its source
}

// promptFile is a file with exactly one of base64, bytes and link.
type promptFile struct {
	mediaType string
	filename  *string
	base64    string
	bytes     []byte
	link      string
	// original is the original link, if normalizing changed it.
	original string
	// missing means that the link cannot be loaded.
	missing bool
	options json.RawMessage
}

// prompter turns model messages into prompt messages.
type prompter struct {
	// takesLink reports which links the model loads itself.
	takesLink func(mediaType, link string) bool
	// download loads the others. Hosts do not set it: such a file becomes a note.
	download func(ctx context.Context, link string) (data []byte, mediaType string, err error)
}

// message converts one message. Unlike in the SDK, consecutive tool messages need no merging: in
// the request each result is a message of its own.
func (p *prompter) message(ctx context.Context, m modelmessage.Message) (promptMessage, error) {
	out := promptMessage{role: m.Role, options: m.ProviderOptions}
	if m.Parts == nil {
		out.parts = []promptPart{{part: modelmessage.Text{Text: m.Text}}}
		return out, nil
	}
	out.parts = make([]promptPart, 0, len(m.Parts))
	for _, part := range m.Parts {
		if dropped(m.Role, part) {
			continue
		}
		converted, err := p.part(ctx, m.Role, part)
		if err != nil {
			return promptMessage{}, err
		}
		out.parts = append(out.parts, converted)
	}
	return out, nil
}

// dropped reports which parts are never sent to a provider.
func dropped(role modelmessage.Role, part modelmessage.Part) bool {
	switch part := part.(type) {
	case modelmessage.Text:
		return part.Text == "" && (role == modelmessage.RoleUser || isNull(part.ProviderOptions))
	case modelmessage.ApprovalRequest:
		return true
	case modelmessage.ApprovalResponse:
		return part.ProviderExecuted == nil || !*part.ProviderExecuted
	case modelmessage.Reasoning, modelmessage.Image, modelmessage.File, modelmessage.ToolCall, modelmessage.ToolResult:
	}
	return false
}

func (p *prompter) part(ctx context.Context, role modelmessage.Role, part modelmessage.Part) (promptPart, error) {
	var file *promptFile
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
			file.filename = part.Filename
		}
	case modelmessage.ToolResult:
		if part.Output.Type == modelmessage.OutputContent {
			part.Output.JSON, err = modelContent(part.Output.JSON)
		}
		return promptPart{part: part}, err
	case modelmessage.Text, modelmessage.Reasoning, modelmessage.ToolCall, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
	}
	return promptPart{part: part, file: file}, err
}

// file resolves the content of a file part: base64, a data URL or a link. Only links in user
// messages are downloaded.
func (p *prompter) file(ctx context.Context, role modelmessage.Role, data, mediaType string, options json.RawMessage) (*promptFile, error) {
	f := &promptFile{mediaType: mediaType, options: options}
	if _, _, ok := messages.PictureOf(data); ok {
		f.missing = true // until it is loaded
		return f, nil
	}
	link, isLink := normaliseLink(data)
	switch {
	case isLink && strings.HasPrefix(link, "data:"):
		header, body, found := strings.Cut(data, ",")
		kind, _, _ := strings.Cut(header[len("data:"):], ";")
		if !found || kind == "" {
			return nil, fmt.Errorf("%w: not a data URL", errBadData)
		}
		f.mediaType, f.base64 = kind, body
	case isLink:
		f.link = link
		if link != data {
			f.original = data
		}
		if role == modelmessage.RoleUser && !p.takesLink(mediaType, link) {
			return f, p.loadLink(ctx, f)
		}
	default:
		f.base64 = data
	}
	return f, nil
}

func (p *prompter) loadLink(ctx context.Context, f *promptFile) error {
	if p.download == nil {
		f.missing = true
		return nil
	}
	data, mediaType, err := p.download(ctx, f.link)
	if err != nil {
		return fmt.Errorf("download file: %w", err)
	}
	f.bytes, f.link, f.original = data, "", ""
	if f.mediaType == "" {
		f.mediaType = mediaType
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
func sniffImage(f *promptFile) error {
	data := f.bytes
	if f.base64 != "" {
		decoded, err := decodeBase64(f.base64)
		if err != nil {
			return err
		}
		data = decoded
	}
	if found := http.DetectContentType(data); strings.HasPrefix(found, "image/") {
		f.mediaType = found
	}
	if f.mediaType == "" {
		f.mediaType = "image/*"
	}
	return nil
}

// encoded returns the file as base64.
func (f *promptFile) encoded() string {
	if f.bytes != nil {
		return base64.StdEncoding.EncodeToString(f.bytes)
	}
	return f.base64
}

func (f *promptFile) dataURL(mediaType string) string {
	return "data:" + mediaType + ";base64," + f.encoded()
}

// decoded returns the file as bytes.
func (f *promptFile) decoded() ([]byte, error) {
	if f.bytes != nil {
		return f.bytes, nil
	}
	return decodeBase64(f.base64)
}

func decodeBase64(s string) ([]byte, error) {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("%w: not base64", errBadData)
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
		return nil, fmt.Errorf("%w: content of a tool result", errBadData)
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
		out = appendString(append(out, `{"type":`...), kind)
		out = append(appendMember(out, "data"), part.Get("data").Raw...)
		out = append(appendString(appendMember(out, "mediaType"), mediaType), '}')
	}
	return append(out, ']'), nil
}

// checkResults reports calls without a result before the next user or system message or the end.
func checkResults(messages []modelmessage.Message) error {
	open := map[string]bool{}
	var order []string
	unanswered := func() error {
		for _, id := range order {
			if open[id] {
				return fmt.Errorf("%w for tool call %s", errMissingResult, id)
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
				if m.Role == modelmessage.RoleAssistant && (part.ProviderExecuted == nil || !*part.ProviderExecuted) {
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
