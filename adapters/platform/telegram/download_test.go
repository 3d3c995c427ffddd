package telegram_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// download downloads a file and checks that the error does not contain the token.
func (b *bench) download(t *testing.T, file platform.File, limit int64) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := b.bot.Download(t.Context(), file, &out, limit)
	b.clean(t, fmt.Sprint(err))
	return out.String(), err
}

func TestDownloads(t *testing.T) {
	b := newBench(t, nil)
	b.api.AddFile("f", []byte("words"))
	got, err := b.download(t, platform.File{FileID: "f"}, 5)
	if err != nil || got != "words" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What a server or a sender says about a file is only a claim.
func TestIO12DownloadsAreBounded(t *testing.T) {
	big := strings.Repeat("x", 200)
	for _, c := range []struct {
		name  string
		told  int64 // by the message
		size  int64 // by the server
		path  string
		limit int64
		want  error
		asked string // the last method that may be called
	}{
		{"told too large", 101, 200, "documents/f", 100, platform.ErrTooLarge, ""},
		{"known too large", 0, 200, "documents/f", 100, platform.ErrTooLarge, "getFile"},
		{"larger than said", 10, 10, "documents/f", 100, platform.ErrTooLarge, "download"},
		{"beyond what bots get", 0, 21 << 20, "documents/f", 1 << 30, platform.ErrTooLarge, "getFile"},
		{"no path", 0, 10, "", 1000, platform.ErrNoFile, "getFile"},
		{"absolute path", 0, 10, "/etc/passwd", 1000, platform.ErrNoFile, "getFile"},
		{"path that leads out", 0, 10, "../../getMe", 1000, platform.ErrNoFile, "getFile"},
		{"path that leads out in the middle", 0, 10, "documents/../../getMe", 1000, platform.ErrNoFile, "getFile"},
		{"backslashes", 0, 10, `documents\..\x`, 1000, platform.ErrNoFile, "getFile"},
		{"a query", 0, 10, "documents/f?x=1", 1000, platform.ErrNoFile, "getFile"},
		{"gone", 0, 0, "-", 1000, platform.ErrNoFile, "getFile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			if c.path != "-" {
				b.api.AddFileAs("f", c.path, c.size, []byte(big))
			}
			got, err := b.download(t, platform.File{FileID: "f", Size: c.told}, c.limit)
			if !errors.Is(err, c.want) || int64(len(got)) > c.limit+1 {
				t.Errorf("got %d bytes, %v; want %v", len(got), err, c.want)
			}
			last := ""
			if calls := b.api.Calls(""); len(calls) > 0 {
				last = calls[len(calls)-1].Method
			}
			if last != c.asked {
				t.Errorf("the last call was %q, want %q", last, c.asked)
			}
		})
	}
}

func TestDownloadTriesAgain(t *testing.T) {
	b := newBench(t, nil)
	b.api.AddFile("f", []byte("words"))
	b.api.Fail(telegramtest.Fault{Method: "getFile", Kind: faketest.Refuse, Code: http.StatusInternalServerError, Text: "Internal Server Error"})
	b.api.Fail(telegramtest.Fault{Method: "download", Kind: faketest.ResetBefore})
	if got, err := b.download(t, platform.File{FileID: "f"}, 100); err != nil || got != "words" {
		t.Errorf("got %q, %v", got, err)
	}
	b.api.Fail(telegramtest.Fault{Method: "download", Kind: faketest.ResetBefore, N: -1})
	if _, err := b.download(t, platform.File{FileID: "f"}, 100); err == nil {
		t.Error("no error from a file that cannot be had")
	}
	b.api.Heal()
	b.api.Fail(telegramtest.Fault{Method: "download", Kind: faketest.ResetAfter})
	if _, err := b.download(t, platform.File{FileID: "f"}, 100); err == nil {
		t.Error("half a file is not an error")
	}
}
