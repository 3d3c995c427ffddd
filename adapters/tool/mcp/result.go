package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

const (
	maxBlobs   = 16      // files of one result
	maxBlob    = 6 << 20 // bytes of one
	maxContent = 1000    // items of one result
	maxURI     = 2 << 10 // bytes
)

// content is a result with more than text. A result that is only text becomes a string, and one that is only
// structured content, or whose text repeats that, becomes that content.
type content struct {
	call       tool.Call
	pictures   []messages.Picture // images of Files to show to the model
	Text       string             `json:"text,omitempty"`
	Structured json.RawMessage    `json:"structured,omitempty"`
	Files      []blob             `json:"files,omitempty"`
	Links      []resource         `json:"links,omitempty"`
	Note       string             `json:"note,omitempty"`
}

// blob is a file in a result. Path is relative to the folder of files.
type blob struct {
	Path      string `json:"path"`
	MediaType string `json:"mediaType,omitempty"`
	Bytes     int    `json:"bytes"`
	URI       string `json:"uri,omitempty"`
}

// resource is a link in a result. The host does not follow it.
type resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"mediaType,omitempty"`
}

// result converts an answer to a result for the model.
func (r *remote) result(ctx context.Context, call tool.Call, answer *sdk.CallToolResult) (tool.Result, error) {
	if answer.NeedsInput() {
		return tool.Result{}, fmt.Errorf("%s: the server wants to ask back, which is not possible here; call it with everything it needs", r.spec.Name)
	}
	c := content{call: call}
	var texts []string
	for i, item := range answer.Content {
		if i == maxContent {
			c.Note = fmt.Sprintf("%d items, %d are shown.", len(answer.Content), maxContent)
			break
		}
		if text := r.item(ctx, &c, item); text != "" {
			texts = append(texts, text)
		}
	}
	c.Text = strings.Join(texts, "\n")
	if answer.StructuredContent != nil {
		structured, err := canonicalOf(answer.StructuredContent)
		if err != nil {
			return tool.Result{}, fmt.Errorf("%s: its structured result cannot be read: %w", r.spec.Name, err) // Unreachable: it was JSON
		}
		c.Structured = r.maskJSON(structured)
	}
	if answer.IsError {
		return tool.Result{}, errors.New(r.text(r.spec.Name + " failed: " + c.words()))
	}
	if !slices.ContainsFunc(texts, func(text string) bool { return !c.repeats(text) }) {
		c.Text = ""
	}
	out, err := c.output()
	if err != nil {
		return tool.Result{}, fmt.Errorf("encode the result of %s: %w", r.spec.Name, err) // Unreachable: strings and valid JSON
	}
	return tool.Result{Output: out, Summary: c.summary(r.spec.Name, len(out)), Pictures: c.pictures}, nil
}

// item adds one item of an answer to the content, and returns its text, if any.
func (r *remote) item(ctx context.Context, c *content, item sdk.Content) string {
	switch item := item.(type) {
	case *sdk.TextContent:
		return r.c.server.mask(item.Text)
	case *sdk.ImageContent:
		r.keep(ctx, c, item.Data, item.MIMEType, "")
	case *sdk.AudioContent:
		r.keep(ctx, c, item.Data, item.MIMEType, "")
	case *sdk.ResourceLink:
		c.Links = append(c.Links, r.resource(item.URI, item.Name, item.Description, item.MIMEType))
	case *sdk.EmbeddedResource:
		switch res := item.Resource; {
		case res == nil:
		case len(res.Blob) > 0:
			r.keep(ctx, c, res.Blob, res.MIMEType, res.URI)
		case res.Text != "":
			c.Links = append(c.Links, r.resource(res.URI, "", "its text is in this result", res.MIMEType))
			return r.c.server.mask(res.Text)
		default:
			c.Links = append(c.Links, r.resource(res.URI, "", "", res.MIMEType))
		}
	case nil:
	default:
		return "[content of an unknown kind]"
	}
	return ""
}

func (r *remote) resource(uri, name, description, mediaType string) resource {
	mask := r.c.server.mask
	return resource{
		URI: clean(mask(uri), maxURI), Name: clean(mask(name), maxTitle), Description: clean(mask(description), maxErrorText),
		MediaType: mediaTypeOf(mediaType),
	}
}

// keep stores bytes under a name that the host chooses.
func (r *remote) keep(ctx context.Context, c *content, data []byte, mediaType, uri string) {
	mediaType = mediaTypeOf(mediaType)
	switch {
	case len(c.Files) == maxBlobs:
		c.Note = fmt.Sprintf("There were more than %d files; the rest was dropped.", maxBlobs)
		return
	case len(data) > maxBlob:
		c.Note = fmt.Sprintf("A file of %d bytes was dropped; at most %d are taken.", len(data), maxBlob)
		return
	}
	sum := sha256.Sum256(data)
	name, err := r.c.o.Files.Store(c.call.Run.ChatKey, "mcp-"+hex.EncodeToString(sum[:16])+extension(mediaType), data)
	if err != nil {
		c.Note = "A file could not be stored."
		r.c.o.Logger.Warn("a file of an MCP server cannot be stored", "server", r.c.server.Name, "error", err)
		return
	}
	c.Files = append(c.Files, blob{Path: name, MediaType: mediaType, Bytes: len(data), URI: clean(r.c.server.mask(uri), maxURI)})
	if r.c.o.Shelf == nil {
		return
	}
	if p, err := r.c.o.Shelf.Keep(ctx, c.call.Run.ChatKey, bytes.NewReader(data)); err == nil { // any other file is only stored
		p.Of = name
		c.pictures = append(c.pictures, p)
	}
}

// mediaTypeOf is a media type without parameters, or "" if it is invalid.
func mediaTypeOf(s string) string {
	if len(s) > 200 {
		return ""
	}
	t, _, _ := strings.Cut(s, ";")
	t, _, err := mime.ParseMediaType(t)
	if err != nil || strings.Count(t, "/") != 1 {
		return ""
	}
	return t
}

// extension is the extension for a media type. Servers cannot choose others.
func extension(mediaType string) string {
	return cmp.Or(map[string]string{
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
		"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg",
		"application/pdf": ".pdf", "application/json": ".json", "application/zip": ".zip", "application/gzip": ".gz", "application/x-gzip": ".gz",
		"text/plain": ".txt", "text/csv": ".csv",
	}[mediaType], ".bin")
}

// maskJSON masks secrets in a JSON value. If the result is not valid JSON, it becomes a string.
func (r *remote) maskJSON(raw json.RawMessage) json.RawMessage {
	masked := string(raw)
	for _, secret := range r.c.server.secrets() { // as written inside of JSON strings
		quoted, err := canonicalOf(secret)
		if err == nil {
			masked = strings.ReplaceAll(masked, string(quoted[1:len(quoted)-1]), stars)
		}
	}
	masked = r.c.server.mask(masked)
	if json.Valid([]byte(masked)) {
		return json.RawMessage(masked)
	}
	text, err := json.Marshal(masked)
	if err != nil {
		return json.RawMessage("null") // Unreachable: strings can be encoded
	}
	return text
}

// repeats reports whether a text says only what the structured content says, as the protocol recommends.
func (c content) repeats(text string) bool {
	words, err := canonicalOf(text)
	if value, isJSON := canonical([]byte(text)); isJSON == nil && bytes.Contains(c.Structured, value) {
		return true
	}
	return err == nil && bytes.Contains(c.Structured, words)
}

// output is the JSON of a result.
func (c content) output() (json.RawMessage, error) {
	plain := len(c.Files)+len(c.Links) == 0 && c.Note == ""
	var v any = c
	switch {
	case plain && c.Text == "" && len(c.Structured) > 0:
		return c.Structured, nil
	case plain && len(c.Structured) == 0:
		v = c.Text
	}
	return plainjson.Append(nil, v)
}

// words are a failed result as text.
func (c content) words() string {
	switch {
	case c.Text != "":
		return c.Text
	case len(c.Structured) > 0:
		return string(c.Structured)
	default:
		return "the server gives no reason"
	}
}

// summary is the summary of a result for people.
func (c content) summary(name string, size int) string {
	out := fmt.Sprintf("%s answered with %d bytes", name, size)
	if n := len(c.Files); n > 0 {
		out += fmt.Sprintf(" and %d files", n)
	}
	return tool.Shorten(out, 500)
}
