package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/unused"
)

const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 60 * time.Second
	shutdownTime  = 3 * time.Second
	// The server of net/http allows 4 KiB above its limit: 16 KiB in all.
	maxHeader = 12 << 10
)

// Receive implements [platform.Platform]: it serves Options.Listen until ctx ends and then gives
// requests a moment to finish. Errors are final.
func (p *Platform) Receive(ctx context.Context, host platform.Host) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", p.opts.Listen)
	if err != nil {
		host.Status(false, err.Error())
		return fmt.Errorf("web: %w", err)
	}
	addr := "http://" + ln.Addr().String()
	host.Status(true, addr)
	p.opts.Logger.InfoContext(ctx, "web is listening", slog.String("address", addr))
	err = p.Serve(ctx, ln)
	host.Status(false, "stopped")
	return err
}

// Serve serves a listener until ctx ends, and closes it.
func (p *Platform) Serve(ctx context.Context, ln net.Listener) error {
	defer p.Close()
	srv := &http.Server{
		Handler:           p.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(p.opts.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ahead := unused.Of(srv)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("web: serve: %w", err)
	case <-ctx.Done():
	}
	p.Close()
	ahead.Close()
	down, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := srv.Shutdown(down); err != nil {
		_ = srv.Close() // cut what did not finish in time
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("web: serve: %w", err)
	}
	return nil
}
