package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+chatPath(chat, "/files?name=")+url.QueryEscape(filepath.Base(name)), src)
	if err != nil {
		return File{}, fmt.Errorf("request: %w", err)
	}
	kind := mime.TypeByExtension(filepath.Ext(name))
	if kind == "" {
		kind = "application/octet-stream"
	}
	req.Header.Set("Content-Type", kind)
	res, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, ErrNotRunning) {
			return File{}, ErrNotRunning
		}
		return File{}, fmt.Errorf("hand a file to the host: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // only as much as needed was read
	if res.StatusCode >= http.StatusMultipleChoices {
		return File{}, refusal(res)
	}
	var out File
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return File{}, fmt.Errorf("answer of the host: %w", err)
	}
	return out, nil
}
