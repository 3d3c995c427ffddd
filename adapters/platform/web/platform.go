package web

import (
	"hash/maphash"
	"net/http"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/assets"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Platform is the web platform of one host, and its handler.
type Platform struct {
	opts    Options
	live    platform.Live
	guard   *guard
	metrics *metrics
	page    *assets.Files
	handler http.Handler

	// closing ends all streams, so that a shutdown need not wait for them.
	closing   chan struct{}
	closeOnce sync.Once
	seed      maphash.Seed
	cuts      *cuts
	rewinds   [64]sync.Mutex // by chat: makes a rewind atomic with what follows it
}

var _ platform.Platform = (*Platform)(nil)

// New returns the platform. It fails for options that would serve strangers without a token
// ([ErrTokenRequired]).
func New(opts Options) (*Platform, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{
		opts: opts, live: opts.Live, page: assets.New(staticFiles), closing: make(chan struct{}), seed: maphash.MakeSeed(), cuts: newCuts(),
		metrics: newMetrics(opts.Registerer, opts.Platform),
	}
	p.guard = newGuard(opts, p.metrics)
	p.handler = p.routes()
	return p, nil
}

// Name implements [platform.Platform].
func (p *Platform) Name() string { return p.opts.Platform }

// Capabilities implements [platform.Platform]: there is no outbox, the assistant's text is the
// reply, of any length, and readers see it grow. The page has buttons for requests; in a terminal
// they are answered in words.
func (p *Platform) Capabilities() platform.Capabilities {
	return platform.Capabilities{Buttons: p.opts.Platform == "web"}
}

// API is the platform of programs that use POST /api/execute: chats of their own, with text only,
// served by the same handler.
type API struct{ *Platform }

// API returns the platform for programs.
func (p *Platform) API() API { return API{p} }

// Name implements [platform.Platform].
func (API) Name() string { return apiName }

// Capabilities implements [platform.Platform]: requests are answered in words.
func (API) Capabilities() platform.Capabilities { return platform.Capabilities{} }

// apiName is the first word of the keys of a program's chats.
const apiName = "api"

// Handler serves all routes. It works whether or not Receive is running.
func (p *Platform) Handler() http.Handler { return p.handler }

// Close ends all current and future streams; readers reconnect to another process. It may be called
// more than once. Receive calls it when it ends.
func (p *Platform) Close() { p.closeOnce.Do(func() { close(p.closing) }) }

// chatKey returns the key of a chat on this platform.
func (p *Platform) chatKey(id string) (messages.ChatKey, *respond.Problem) {
	return newKey(p.opts.Platform, id)
}

func newKey(platformName, id string) (messages.ChatKey, *respond.Problem) {
	if id == "" || id == "." || id == ".." || len(id) > maxChatID || request.HasControl(id) {
		return "", respond.BadRequest("bad_chat_id", "A chat id is 1 to 256 bytes of text without control characters.")
	}
	key, err := messages.ParseChatKey(string(messages.NewChatKey(platformName, "", id, 0)))
	if err != nil {
		return "", respond.BadRequest("bad_chat_id", "The chat id cannot be used: "+err.Error()+".")
	}
	return key, nil
}

const maxChatID = 256

// inbound returns a person's message, without its content.
func (p *Platform) inbound(key messages.ChatKey, chatID string) platform.Inbound {
	return platform.Inbound{
		ChatKey: key, RequestID: request.NewID("r-"), Kind: platform.KindMessage,
		Chat: platform.ChatInfo{ID: chatID, Type: p.opts.Platform}, Sender: p.opts.Owner,
		Time: time.Now(), Gate: platform.Gate{Open: true, Reason: "private"},
	}
}

func (p *Platform) isClosing() bool {
	select {
	case <-p.closing:
		return true
	default:
		return false
	}
}

func (p *Platform) writeDeadline() time.Time { return time.Now().Add(p.opts.WriteTimeout) }
