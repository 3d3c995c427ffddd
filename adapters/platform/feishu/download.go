package feishu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

// codeFileTooLarge is the error code for files above a hundred megabytes.
const codeFileTooLarge = 234037

var _ platform.Downloader = (*Platform)(nil)

// fileOf splits the id of a file into the message that contains it and its key there. Anything that
// is not an id of the service is refused.
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

// Download implements [platform.Downloader]. The name and size that the service reports are
// ignored: bytes are counted as they arrive.
func (p *Platform) Download(ctx context.Context, file platform.File, w io.Writer, limit int64) error {
	message, key, ok := fileOf(file.FileID)
	if !ok {
		return platform.ErrNoFile
	}
	kind := "file"
	if file.Kind == kindPhoto {
		kind = "image"
	}
	r := api.Request{
		Method: http.MethodGet, Path: "/open-apis/im/v1/messages/" + message + "/resources/" + key, Query: url.Values{"type": {kind}},
	}
	return noFile(httpcall.Download(ctx, w, limit, func() (io.ReadCloser, error) { return p.client.File(ctx, r) }, p.fileAgain))
}

// fileAgain reports whether to retry a download, and after what delay.
func (p *Platform) fileAgain(err error, tries int) (time.Duration, bool) {
	e, refused := errors.AsType[*api.Error](err)
	switch {
	case !refused:
		return retry.Pause(tries + 2), true
	case e.IsTokenStale() && tries == 0:
		p.client.Forget()
		return 0, true
	}
	say := refusal(e)
	return max(say.RetryAfter, retry.Pause(tries+2)), say.Retryable
}

// noFile converts an error of a download to those of package platform.
func noFile(err error) error {
	e, ok := errors.AsType[*api.Error](err)
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
