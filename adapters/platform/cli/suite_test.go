package cli_test

import (
	"context"
	"errors"
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
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// terminal is a person at a terminal: a client of the control socket that watches the chat.
type terminal struct {
	*platformtest.Person
	client *cli.Client
	life   context.Context //nolint:containedctx // of the test: requests end with it
}

const suiteChat = "suite"

// newTerminal serves the platform on a unix socket, like a host.
func newTerminal(t *testing.T) (*terminal, *web.Platform) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	socket := filepath.Join(t.TempDir(), "control.sock")
	x := &terminal{platformtest.NewPerson(t), cli.NewClient(socket), ctx}
	p, err := web.New(web.Options{Platform: "cli", Private: true, Live: x.Live})
	stdtest.Must(t, err)
	l, err := cli.Listen(ctx, socket)
	stdtest.Must(t, err)
	server := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: 5 * time.Second}
	var work sync.WaitGroup
	work.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("the socket: %v", err)
		}
	})
	work.Go(func() {
		x.Deliver(ctx, func(m platformtest.Letter) bool {
			_, _, err := x.client.Send(ctx, suiteChat, m.ID, m.Text)
			return err == nil
		})
	})
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

// follow watches the chat, and reconnects whenever the connection breaks.
func (x *terminal) follow() {
	for x.life.Err() == nil {
		ctx, cancel := x.Connection(x.life)
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
	for _, m := range e.Messages {
		for _, part := range m.Parts {
			if text, ok := part.(uimessage.Text); ok && m.Role == uimessage.RoleAssistant {
				x.Show(m.ID, text.Text)
			}
		}
	}
	for _, c := range e.Chunks {
		if d, ok := c.(uistream.TextDelta); ok {
			texts[e.MessageID] += d.Delta
		}
	}
	if e.Kind == platform.FrameEnd {
		x.Show(e.MessageID, texts[e.MessageID])
	}
}

// served is the platform for a socket that others listen on, like the control socket: to receive is
// only to be available.
type served struct {
	*web.Platform
	live *platformtest.Live
}

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
		chat := platform.Target{ChatKey: messages.NewChatKey("cli", "", suiteChat, 0), Chat: suiteChat, ChatType: "cli"}
		return x.Harness(&served{p, x.Live}, chat)
	})
}
