package unused_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/unused"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A shutdown waits for requests, but not for unused connections.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answer := make(chan struct{}), make(chan struct{})
		srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(asked)
			<-answer
			_, _ = io.WriteString(w, "done")
		})}
		ahead, pipe := unused.Of(srv), faketest.NewPipe(t)
		served := make(chan error, 1)
		go func() { served <- srv.Serve(pipe) }()
		conn, err := pipe.Dial(t.Context(), "tcp", "any")
		stdtest.Must(t, err)
		got := make(chan string, 1)
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://any/", http.NoBody)
			if err != nil {
				got <- err.Error()
				return
			}
			resp, err := pipe.Client().Do(req)
			if err != nil {
				got <- err.Error()
				return
			}
			defer resp.Body.Close() //nolint:errcheck // it was read
			body, _ := io.ReadAll(resp.Body)
			got <- string(body)
		}()
		<-asked
		ahead.Close()
		if _, err := conn.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // as net.Pipe says it
			t.Errorf("the unused connection: %v, want EOF", err)
		}
		if late, err := pipe.Dial(t.Context(), "tcp", "any"); err != nil {
			t.Error(err)
		} else if _, err := late.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // likewise
			t.Errorf("a connection that comes late: %v, want EOF", err)
		}
		down := make(chan error, 1)
		go func() { down <- srv.Shutdown(context.WithoutCancel(t.Context())) }()
		synctest.Wait()
		close(answer)
		if s := <-got; s != "done" {
			t.Errorf("the request under way got %q", s)
		}
		began := time.Now()
		if err := <-down; err != nil || time.Since(began) > time.Second {
			t.Errorf("shut down with %v after %v", err, time.Since(began))
		}
		if err := <-served; err != http.ErrServerClosed { //nolint:errorlint // as it is
			t.Error(err)
		}
	})
}
