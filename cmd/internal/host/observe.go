package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/profiles"
	"github.com/shipmyagent/shipmyagent/config"
)

// newRegistry makes the host's own registry, with the metrics of the process.
func newRegistry(version string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	promauto.With(reg).NewGauge(prometheus.GaugeOpts{
		Name: "sma_build_info", Help: "The running binary; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	return reg
}

// observeHandler serves metrics and health, and profiles if they are wanted.
func observeHandler(reg *prometheus.Registry, status func(context.Context) Status, profiled bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true, CoalesceGather: true}))
	alive := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") } // a client that disconnected needs no answer
	mux.HandleFunc("GET /livez", alive)
	mux.HandleFunc("GET /healthz", alive)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		readyz(w, r, status(r.Context()))
	})
	if profiled {
		profiles.Serve(mux)
	}
	return mux
}

// readyz answers 200 once every platform accepts messages, and 503 with the reason otherwise; ?verbose returns the
// whole status.
func readyz(w http.ResponseWriter, r *http.Request, s Status) {
	text, code := string(StateReady), http.StatusOK
	if why := s.NotReady(); why != "" {
		text, code = why, http.StatusServiceUnavailable
	}
	if !r.URL.Query().Has("verbose") {
		http.Error(w, text, code)
		return
	}
	control.JSON(w, code, s)
}

// serve serves a handler on a listener, and returns the function that stops it.
func serve(l net.Listener, h http.Handler, log *slog.Logger) func(context.Context) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("a listener ended", "address", l.Addr().String(), "error", err)
		}
	}()
	return func(ctx context.Context) error {
		if err := srv.Shutdown(ctx); err != nil {
			return errors.Join(fmt.Errorf("shut down %s: %w", l.Addr(), err), srv.Close())
		}
		return nil
	}
}

// startObserving opens the metrics listener. If the address is in use, the host starts without metrics.
func (h *Host) startObserving(ctx context.Context) error {
	metrics := h.opts.Settings.Settings.Metrics
	address := metrics.Listen
	if address == "" || address == config.Off {
		return nil
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		h.log.Warn("metrics are not served: the address cannot be used; set metrics.listen to another one or to off", "address", address, "error", err)
		return nil
	}
	h.metricsAddr = l.Addr().String()
	// The settings require a loopback address; localhost may still resolve to another one.
	profiled := metrics.Pprof && config.IsLoopback(h.metricsAddr)
	h.cleanups.add("metrics listener", serve(l, web.OnlyHosts(address, observeHandler(h.registry, h.Status, profiled)), h.log))
	return nil
}
