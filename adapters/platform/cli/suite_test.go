package cli_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// terminal is a person at a terminal: a client of the control socket that sends one message after
// the other and watches the chat.
type terminal struct {
	t      *testing.T
	live   *platformtest.Live
	client *cli.Client
	life   context.Context //nolint:containedctx // of the test: requests end with it

	mu    sync.Mutex
	sent  []letter
	queue chan letter
	shown []string
	known map[string]bool // answers that were shown
	cut   context.CancelFunc
}

// letter is a message to deliver.
type letter struct{ id, text string }

const suiteChat = "suite"

// newTerminal serves the platform on a unix socket, like a host.
func newTerminal(t *testing.T) (*terminal, *web.Platform) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	socket := filepath.Join(t.TempDir(), "control.sock")
	x := &terminal{
		t: t, live: platformtest.NewLive(), client: cli.NewClient(socket), life: ctx, queue: make(chan letter, 100), known: map[string]bool{},
	}
	p, err := web.New(web.Options{Platform: "cli", Private: true, Live: x.live})
	if err != nil {
		t.Fatal(err)
	}
	l, err := cli.Listen(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: 5 * time.Second}
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the socket: %v", err)
		}
	})
	work.Go(x.deliver)
	work.Go(x.follow)
	t.Cleanup(func() {
		cancel()
		p.Close()
		_ = server.Close() // cut open connections
		work.Wait()
		x.client.Close()
	})
	return x, p
}

// deliver sends the queued messages, in order, repeating each until it is accepted.
func (x *terminal) deliver() {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-x.life.Done():
			return
		case m := <-x.queue:
			for x.life.Err() == nil {
				if _, _, err := x.client.Send(x.life, suiteChat, m.id, m.text); err == nil {
					break
				}
				<-again.C
			}
		}
	}
}

// follow watches the chat, and reconnects whenever the connection breaks.
func (x *terminal) follow() {
	for x.life.Err() == nil {
		ctx, cancel := context.WithCancel(x.life)
		x.mu.Lock()
		x.cut = cancel
		x.mu.Unlock()
		texts := map[string]string{}
		for e, err := range x.client.Watch(ctx, suiteChat) {
			if err != nil {
				break
			}
			x.event(e, texts)
		}
		cancel()
	}
}

func (x *terminal) event(e cli.Event, texts map[string]string) {
	for _, m := range e.View.Messages {
		for _, part := range m.Parts {
			if text, ok := part.(uimessage.Text); ok && m.Role == uimessage.RoleAssistant {
				x.show(m.ID, text.Text)
			}
		}
	}
	for _, c := range e.Chunks {
		if d, ok := c.(uistream.TextDelta); ok {
			texts[e.MessageID] += d.Delta
		}
	}
	if e.Kind == string(platform.FrameEnd) {
		x.show(e.MessageID, texts[e.MessageID])
	}
}

// show records an answer that people see, once.
func (x *terminal) show(id, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if text != "" && !x.known[id] {
		x.known[id] = true
		x.shown = append(x.shown, text)
	}
}

func (x *terminal) harness(p *web.Platform) platformtest.Harness {
	return platformtest.Harness{
		Platform: &served{p, x.live}, Core: x.live.Host,
		Chat: platform.Target{ChatKey: messages.NewChatKey("cli", "", suiteChat, 0), Chat: suiteChat, ChatType: "cli"},
		Say: func(_ platform.Target, text string) string {
			x.mu.Lock()
			defer x.mu.Unlock()
			m := letter{fmt.Sprintf("m%d", len(x.sent)+1), text}
			x.sent = append(x.sent, m)
			x.queue <- m
			return m.id
		},
		Repeat: func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			for _, m := range x.sent {
				x.queue <- m
			}
		},
		Shown: func(platform.Target) []string {
			x.mu.Lock()
			defer x.mu.Unlock()
			return append([]string(nil), x.shown...)
		},
		Answer: func(to platform.Target, text string) {
			if err := x.live.Answer(to.ChatKey, text); err != nil {
				x.t.Error(err)
			}
		},
		Cut: func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.cut()
		},
	}
}

// served is the platform for a socket that others listen on, like the control socket: to receive is
// only to be available.
type served struct {
	*web.Platform
	live *platformtest.Live
}

// Receive implements [platform.Platform].
func (s *served) Receive(ctx context.Context, _ platform.Host) error {
	s.live.Status(true, "control socket")
	<-ctx.Done()
	return nil
}

// TestSuite runs the suite with the terminal chat over a unix socket.
func TestSuite(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		x, p := newTerminal(t)
		return x.harness(p)
	})
}
