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

// File is a file that was uploaded to a chat, as a message names it.
type File struct {
	MediaType string `json:"mediaType"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url"`
}

// Upload hands a file to a chat. A message has it only once it names it.
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
	defer func() { _ = res.Body.Close() }() // it is read as far as it matters
	if res.StatusCode >= http.StatusMultipleChoices {
		return File{}, refusal(res)
	}
	var out File
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		return File{}, fmt.Errorf("answer of the host: %w", err)
	}
	return out, nil
}
