package feishu

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/websocket"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/frame"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

const (
	// linkTimeout bounds the setup of a connection, and each write. Together with the longest
	// pause, a connection is established within ten seconds after the network recovers.
	linkTimeout = 4 * time.Second
	// maxLink is how many events of one connection are handled concurrently.
	maxLink = 128
)

var errSilent = errors.New("the long connection was silent for too long")

// keepLink maintains a long connection until ctx ends. Only a refused secret ends it earlier.
func (r *receiver) keepLink(ctx context.Context) error {
	for tries := 0; ctx.Err() == nil; tries++ {
		began := time.Now()
		err := r.runLink(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if isSecretRefused(err) {
			return err
		}
		if time.Since(began) > retry.MaxPause {
			tries = 0
		}
		if r.status.Set(false, "the long connection is down and is made anew") {
			r.p.log.Warn("messages cannot be received; it is tried again", "error", err)
		}
		retry.Wait(ctx, retry.Pause(tries))
	}
	return nil
}

// dial requests the URL of the long connection, which takes the app's secret, and connects to it.
func (r *receiver) dial(ctx context.Context) (*websocket.Conn, int32, error) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	c := r.p.client
	req, err := api.Posting(http.MethodPost, "/callback/ws/endpoint", map[string]string{"AppID": c.App, "AppSecret": strings.TrimSpace(c.Secret())})
	if err != nil {
		return nil, 0, err
	}
	req.Open = true
	got, err := api.Call[struct {
		Data struct {
			URL string `json:"URL"`
		} `json:"data"`
	}](ctx, c, req)
	if err != nil {
		return nil, 0, err
	}
	u, err := url.Parse(got.Data.URL)
	if err != nil || u.Host == "" {
		return nil, 0, errors.New("the service returned no address to connect to")
	}
	config, err := websocket.NewConfig(got.Data.URL, c.Base.String())
	if err != nil {
		return nil, 0, errors.New("the service returned an address that cannot be used")
	}
	conn, err := connect(ctx, config, r.p.opts.Dial)
	if err != nil { // the error contains the URL, which contains a ticket
		return nil, 0, fmt.Errorf("the long connection to %s cannot be made", u.Host)
	}
	conn.PayloadType, conn.MaxPayloadBytes = websocket.BinaryFrame, maxEvent
	service, _ := strconv.ParseInt(u.Query().Get("service_id"), 10, 32)
	return conn, int32(service), nil
}

// connect dials with dial, or in the default way if that is nil.
func connect(ctx context.Context, config *websocket.Config, dial func(context.Context, string, string) (net.Conn, error)) (*websocket.Conn, error) {
	if dial == nil {
		return config.DialContext(ctx)
	}
	raw, err := dial(ctx, "tcp", config.Location.Host)
	if err != nil {
		return nil, err
	}
	if config.Location.Scheme == "wss" {
		raw = tls.Client(raw, &tls.Config{ServerName: config.Location.Hostname(), MinVersion: tls.VersionTLS12})
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	conn, err := websocket.NewClient(config, raw)
	if !stop() || err != nil {
		_ = raw.Close()
		return nil, errors.Join(err, ctx.Err())
	}
	return conn, nil
}

// link is one long connection.
type link struct {
	*receiver

	conn    *websocket.Conn
	service int32
	slots   chan struct{}
	pieces  *frame.Pieces
	write   sync.Mutex
}

// runLink opens a connection and handles its events until it ends or is silent for too long.
func (r *receiver) runLink(ctx context.Context) error {
	conn, service, err := r.dial(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	l := &link{receiver: r, conn: conn, service: service, slots: make(chan struct{}, maxLink), pieces: frame.NewPieces(maxEvent)}
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	work.Go(func() { l.ping(ctx) })
	work.Go(func() {
		<-ctx.Done()
		_ = conn.Close() // ends the reading
	})
	r.p.metrics.links.Inc()
	name, _ := r.p.Bot()
	r.p.log.Info("receiving by long connection", "bot", name)
	r.status.Set(true, "")
	for {
		// The connection counts as dead after a silence longer than two pings.
		if err := conn.SetReadDeadline(time.Now().Add(2*r.p.opts.PingEvery + time.Second)); err != nil {
			return err
		}
		var raw []byte
		if err := websocket.Message.Receive(conn, &raw); err != nil {
			if timeout, ok := errors.AsType[interface {
				error
				Timeout() bool
			}](err); ok && timeout.Timeout() {
				return errSilent
			}
			return fmt.Errorf("read: %w", err)
		}
		f, err := frame.Decode(raw)
		if err != nil {
			return err
		}
		if f.Method != frame.MethodData || f.Header("type") != "event" {
			continue // a pong, whose suggested intervals we do not need
		}
		if whole, ok := l.pieces.Join(f); ok {
			select {
			case l.slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			e, err := decodeEnvelope(whole)
			if err != nil {
				l.p.metrics.events.WithLabelValues("unreadable").Inc()
				l.p.log.Error("an event could not be read and is skipped")
			}
			do := handler(nothing)
			if err == nil {
				do = l.prepare(e) // here, so that events keep the order of their frames
			}
			// A chat that hangs delays only its own event: the next connection does not wait for it.
			l.handling.Go(func() {
				defer func() { <-l.slots }()
				l.answer(f, do)
			})
		}
	}
}

// ping keeps the connection alive on both sides.
func (l *link) ping(ctx context.Context) {
	for ctx.Err() == nil {
		f := frame.Frame{Service: l.service, Headers: [][2]string{{"type", "ping"}}}
		if l.send(f) != nil {
			return // the reader fails too
		}
		retry.Wait(ctx, l.p.opts.PingEvery)
	}
}

func (l *link) send(f frame.Frame) error {
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.conn.SetWriteDeadline(time.Now().Add(linkTimeout)); err != nil {
		return err
	}
	return websocket.Message.Send(l.conn, f.Encode())
}

// answer handles an event and reports the result to the service. After a failure, or without a
// report, the event is redelivered.
func (l *link) answer(f frame.Frame, do handler) {
	began := time.Now()
	out := struct {
		Code    int               `json:"code"`
		Headers map[string]string `json:"headers"`
		Data    []byte            `json:"data"`
	}{Code: http.StatusOK}
	answer, err := do(l.life)
	if err == nil {
		out.Data, err = json.Marshal(answer)
	}
	if err != nil {
		out.Code = http.StatusInternalServerError
	}
	payload, err := json.Marshal(out)
	if err != nil { // Unreachable: only numbers and bytes
		return
	}
	f.Payload = payload
	f.Headers = append(f.Headers, [2]string{"biz_rt", strconv.FormatInt(time.Since(began).Milliseconds(), 10)})
	if err := l.send(f); err != nil {
		l.p.log.Warn("an event could not be answered; the service will send it again", "error", err)
	}
}
