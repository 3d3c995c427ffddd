package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/config"
)

const (
	maxWaiting = 10_000 // entries, and spans, that wait to be sent
	batch      = 500    // spans in a request
	sendEvery  = 2 * time.Second
	sendWithin = 10 * time.Second
)

// Options configure an [Exporter]. All are required but Project and Version, which describe the host.
type Options struct {
	// Traces has the root of the collector, such as http://127.0.0.1:4318; spans go to its /v1/traces.
	config.Traces
	Project, Version string
	Logger           *slog.Logger
	Registerer       prometheus.Registerer
}

// Exporter sends spans to a collector, a batch every two seconds. While the collector cannot be reached, spans wait, and
// what exceeds 10,000 of them is dropped and counted; runs never wait.
type Exporter struct {
	Options
	entries chan decision.AuditEntry
	client  *http.Client
	dropped prometheus.Counter

	// Used by Run only.
	maker   maker
	spans   []span
	failing bool
}

// New makes an exporter. It sends nothing before [Exporter.Run].
func New(o Options) *Exporter {
	return &Exporter{
		Options: o, entries: make(chan decision.AuditEntry, maxWaiting),
		client: &http.Client{Timeout: sendWithin, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		dropped: promauto.With(o.Registerer).NewCounter(prometheus.CounterOpts{
			Name: "sma_traces_dropped_total", Help: "Entries and spans that were dropped because the collector of traces was too slow or refused them.",
		}),
	}
}

// Add takes one entry of the audit log. It never blocks, and may be called concurrently.
func (x *Exporter) Add(e decision.AuditEntry) {
	select {
	case x.entries <- e:
	default:
		x.dropped.Inc()
	}
}

// Run sends spans until ctx ends, and then once more what is left.
func (x *Exporter) Run(ctx context.Context) {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	defer x.client.CloseIdleConnections()
	for {
		select {
		case e := <-x.entries:
			x.take(e)
		case <-tick.C:
			x.send(ctx)
		case <-ctx.Done():
			for len(x.entries) > 0 {
				x.take(<-x.entries)
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendEvery)
			x.send(last)
			cancel()
			return
		}
	}
}

func (x *Exporter) take(e decision.AuditEntry) {
	s, ok := x.maker.span(e)
	switch {
	case !ok:
	case len(x.spans) >= maxWaiting:
		x.dropped.Inc()
	default:
		x.spans = append(x.spans, s)
	}
}

// send sends what waits. After a failure that may pass, the rest waits for the next time.
func (x *Exporter) send(ctx context.Context) {
	for len(x.spans) > 0 {
		part := x.spans[:min(batch, len(x.spans))]
		again, err := x.post(ctx, part)
		if err != nil && !x.failing {
			x.Logger.WarnContext(ctx, "traces cannot be sent; spans wait, and more than 10,000 are dropped", "endpoint", x.Endpoint, "error", err)
		}
		if err == nil && x.failing {
			x.Logger.InfoContext(ctx, "traces are sent again", "endpoint", x.Endpoint)
		}
		x.failing = err != nil
		if again {
			return
		}
		if err != nil {
			x.dropped.Add(float64(len(part)))
		}
		x.spans = x.spans[len(part):]
	}
	x.spans = nil
}

// post sends spans. It reports whether the same spans should be sent later, as the protocol says.
func (x *Exporter) post(ctx context.Context, spans []span) (again bool, err error) {
	body, err := json.Marshal(x.document(spans))
	if err != nil {
		return false, fmt.Errorf("encode spans: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(x.Endpoint, "/")+"/v1/traces", bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("address of the collector: %w", err)
	}
	for name, value := range x.Headers {
		req.Header.Set(name, value.Reveal())
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := x.client.Do(req)
	if err != nil {
		return true, err
	}
	defer func() { _ = res.Body.Close() }()
	const maxRead = 64 << 10
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxRead)) // so that the connection is used again
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, fmt.Errorf("the collector answered %s", res.Status)
	default:
		return false, fmt.Errorf("the collector refused %d spans: %s", len(spans), res.Status)
	}
}

type document struct {
	Resources []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource resource     `json:"resource"`
	Scopes   []scopeSpans `json:"scopeSpans"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

func (x *Exporter) document(spans []span) document {
	return document{[]resourceSpans{{
		Resource: resource{[]attribute{
			{"service.name", value{String: "shipmyagent"}}, {"service.namespace", value{String: x.Project}}, {"service.version", value{String: x.Version}},
		}},
		Scopes: []scopeSpans{{scope{"github.com/shipmyagent/shipmyagent", x.Version}, spans}},
	}}}
}
