package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

const (
	// downloadTries is how often a file is asked for when the service fails.
	downloadTries = 3
	// downloadPause is how long the answer to a download may be silent.
	downloadPause = 20 * time.Second
	// maxRefusal is the longest refusal of a download that is read.
	maxRefusal = 64 << 10
	// codeFileTooLarge is the answer about files above a hundred megabytes.
	codeFileTooLarge = 234037
)

var _ platform.Downloader = (*Platform)(nil)

// fileOf takes the id of a file apart: the message that it is in, and its key there.
// Anything that is no id of the service is refused.
func fileOf(id string) (message, key string, ok bool) {
	message, key, ok = strings.Cut(id, "/")
	return message, key, ok && isID(message) && isID(key)
}

// isID reports whether a text can be an id of the service and nothing else.
func isID(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

// Download implements [platform.Downloader]. What the service says of a file's name
// or size is ignored: bytes are counted as they arrive.
func (p *Platform) Download(ctx context.Context, file platform.File, w io.Writer, limit int64) error {
	message, key, ok := fileOf(file.FileID)
	if !ok {
		return platform.ErrNoFile
	}
	kind := "file"
	if file.Kind == kindPhoto {
		kind = "image"
	}
	r := request{
		method: http.MethodGet, path: "/open-apis/im/v1/messages/" + message + "/resources/" + key, query: url.Values{"type": {kind}},
	}
	for tries := 0; ; tries++ {
		body, err := p.client.file(ctx, r)
		if err == nil {
			return httpcall.Copy(w, body, limit)
		}
		pause, again := p.fileAgain(err, tries)
		if !again || ctx.Err() != nil {
			return noFile(err)
		}
		retry.Wait(ctx, pause)
	}
}

// fileAgain reports whether and when a file is asked for once more.
func (p *Platform) fileAgain(err error, tries int) (time.Duration, bool) {
	if tries+1 >= downloadTries {
		return 0, false
	}
	e, refused := errors.AsType[*apiError](err)
	switch {
	case !refused:
		return retry.Pause(tries + 2), true
	case isTokenStale(e) && tries == 0:
		p.client.forget()
		return 0, true
	}
	say := refusal(e)
	return max(say.RetryAfter, retry.Pause(tries+2)), say.Retryable
}

// noFile words an error for people and programs.
func noFile(err error) error {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return err
	case e.Code == codeFileTooLarge:
		return platform.ErrTooLarge
	case refusal(e).Retryable:
		return err
	}
	return fmt.Errorf("%w: %w", platform.ErrNoFile, err)
}

// file opens a file of the service.
func (c *client) file(ctx context.Context, r request) (io.ReadCloser, error) {
	token, err := c.bearer(ctx)
	if err != nil {
		return nil, err
	}
	req, err := c.request(ctx, r, token)
	if err != nil { // Unreachable: the method is known and the address is ours
		return nil, &callError{Call: r.path, Err: err}
	}
	resp, err := httpcall.Open(ctx, c.http, req, r.path, strings.TrimSpace(c.secret()), downloadPause)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	var verdict verdict
	if err == nil {
		err = json.Unmarshal(raw, &verdict)
	}
	if err != nil || verdict.code() == 0 {
		return nil, &callError{Call: r.path, Status: resp.StatusCode, Sent: true, Err: fmt.Errorf("unreadable answer with status %d", resp.StatusCode)}
	}
	return nil, c.refused(r, verdict, resp.StatusCode, resp.Header)
}
