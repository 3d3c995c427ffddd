package cli

import (
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
)

// File is an uploaded file of a chat, as messages refer to it.
type File struct {
	MediaType string `json:"mediaType"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url"`
}

// Upload uploads a file to a chat. It is not part of a message until one refers to it.
func (c *Client) Upload(ctx context.Context, chat, name string, src io.Reader) (File, error) {
	kind := cmp.Or(mime.TypeByExtension(filepath.Ext(name)), "application/octet-stream")
	var out File
	err := c.json(ctx, http.MethodPost, chatPath(chat, "/files?name=")+url.QueryEscape(filepath.Base(name)), src, &out, "Content-Type", kind)
	return out, err
}
