package host

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestWatchSeesChangesAndNewFolders(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "profile")
	ctx, cancel := context.WithCancel(t.Context())
	changed, ended := make(chan struct{}, 100), make(chan struct{})
	go func() {
		defer close(ended)
		watch(ctx, []string{dir, sub}, slog.New(slog.DiscardHandler), func() { changed <- struct{}{} })
	}()
	await := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Fatalf("nothing was heard of %s", what)
		}
	}
	await("the beginning")
	stdtest.Write(t, filepath.Join(dir, "Agent.md"), "x")
	await("a new file")
	stdtest.Must(t, os.Mkdir(sub, 0o700))
	await("a new folder")
	stdtest.Write(t, filepath.Join(sub, "Primary.md"), "x")
	await("a file in the new folder")
	cancel()
	<-ended
}

// Without a free watcher of the system, files are looked at periodically, and the log says so once.
func TestWatchWithoutAWatcherLooksPeriodically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var log bytes.Buffer
		looks := 0
		none := func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }
		go watchWith(ctx, none, []string{"a", "b"}, slog.New(slog.NewTextHandler(&log, nil)), func() { looks++ })
		<-time.After(3*lookEvery + time.Second)
		synctest.Wait()
		if looks != 1+3 {
			t.Errorf("%d looks, want one at the beginning and 3 later", looks)
		}
		if n := bytes.Count(log.Bytes(), []byte("cannot watch files")); n != 1 {
			t.Errorf("%d warnings, want 1: %s", n, &log)
		}
	})
}
