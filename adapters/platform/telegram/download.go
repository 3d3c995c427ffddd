package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

// downloadPause is how long the response to a download may pause.
const downloadPause = 20 * time.Second

var _ platform.Downloader = (*Platform)(nil)

// Download implements [platform.Downloader]. The URL of a file contains the bot's token: it is
// built here, used once and never passed on.
func (p *Platform) Download(ctx context.Context, file platform.File, w io.Writer, limit int64) error {
	if file.Size > limit {
		return platform.ErrTooLarge
	}
	return noFile(httpcall.Download(ctx, w, limit, func() (io.ReadCloser, error) {
		at, err := call[models.File](ctx, p.client, "getFile", bot.GetFileParams{FileID: file.FileID})
		if err != nil {
			return nil, err
		}
		if at.FileSize > limit {
			return nil, platform.ErrTooLarge
		}
		return p.client.file(ctx, at.FilePath)
	}, tryAgain))
}

// tryAgain reports whether to retry a download, and after what delay.
func tryAgain(err error, tries int) (time.Duration, bool) {
	if errors.Is(err, platform.ErrNoFile) || errors.Is(err, platform.ErrTooLarge) {
		return 0, false
	}
	e, refused := errors.AsType[*apiError](err)
	switch {
	case !refused, e.Code >= http.StatusInternalServerError:
		return retry.Pause(tries + 2), true
	case e.Code == http.StatusTooManyRequests:
		return max(e.RetryAfter, time.Second), true
	}
	return 0, false
}

// noFile converts an error of a download to those of package platform.
func noFile(err error) error {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return err
	case says(e, "file is too big"):
		return platform.ErrTooLarge
	case e.Code == http.StatusBadRequest, e.Code == http.StatusNotFound, e.Code == http.StatusForbidden:
		return fmt.Errorf("%w: %w", platform.ErrNoFile, err)
	}
	return err
}

// file opens a file of the server. The server chooses the path, so a path outside the bot's own
// files is refused.
func (c *client) file(ctx context.Context, name string) (io.ReadCloser, error) {
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || name == ".." || strings.HasPrefix(name, "../") || strings.ContainsAny(name, "\\?#\x00") {
		return nil, platform.ErrNoFile
	}
	req, err := c.request(ctx, http.MethodGet, "/file/bot", name, http.NoBody)
	if err != nil {
		return nil, &callError{Call: "download", Err: err}
	}
	resp, err := httpcall.Open(ctx, c.http, req, "download", c.secret(), downloadPause)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, &apiError{Method: "download", Code: resp.StatusCode, Description: http.StatusText(resp.StatusCode)}
	}
	return resp.Body, nil
}
