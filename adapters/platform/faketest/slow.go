package faketest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// SlowBody sends the head of a request and the first byte of its body over a connection of
// its own, and waits until the server reads the body. The rest never comes; the status is
// what the server answers once it gives up.
func SlowBody(tb testing.TB, ctx context.Context, address, path string, header http.Header) (status <-chan int) { //nolint:revive // tb comes first everywhere
	tb.Helper()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	stdtest.Must(tb, err)
	tb.Cleanup(func() { _ = conn.Close() }) // the server may have closed it already
	var head strings.Builder
	_ = header.Write(&head) // it never fails
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: bot.example\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n%s\r\n{", path, head.String()); err != nil {
		tb.Fatal(err)
	}
	read := make(chan struct{})
	out := make(chan int, 1)
	go func() {
		defer close(out)
		in := bufio.NewReader(conn)
		began := false
		for {
			res, err := http.ReadResponse(in, nil)
			switch {
			case err != nil:
			case res.StatusCode == http.StatusContinue:
				began = true
				close(read)
				continue
			default:
				_ = res.Body.Close()
				out <- res.StatusCode
			}
			if !began {
				close(read)
			}
			return
		}
	}()
	select {
	case <-read:
	case <-ctx.Done():
		tb.Error("the server does not read the body")
	}
	return out
}
