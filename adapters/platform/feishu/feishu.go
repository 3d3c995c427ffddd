package feishu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options of a [Platform]. AppID and AppSecret are required, and AccessStore unless Access is open.
type Options struct {
	AppID string
	// AppSecret gives the app's secret. It is asked for at each use and never kept or printed.
	AppSecret func() string
	// Account tells several apps of one host apart; empty: the only one.
	Account string
	// BaseURL is the root of the open platform.
	BaseURL string
	Access  string
	// Groups are rules by chat id; * is all other groups.
	Groups map[string]platform.Group
	// Rates are the limits to keep to.
	Rates platform.Rates
	// Egress is tool (the default) or direct.
	Egress string
	// Drafts is card, or off (the default).
	Drafts string
	// Administered: administrators of groups may decide there, so that they are asked for.
	Administered bool
	// Commands are the names that the host answers, without the slash; other
	// words with a slash are text. Nil: the usual ones.
	Commands []string
	// HTTPClient replaces the transport of calls. Redirects are never followed.
	HTTPClient  *http.Client
	Logger      *slog.Logger
	Registry    prometheus.Registerer
	AccessStore platform.AccessStore
	// Language is what people chose for a chat, for the answers to commands: en, zh, or
	// empty for that of the service. Nil: nothing was chosen anywhere.
	Language func(messages.ChatKey) string
	// Decide brings what people say by buttons to the core; nil: there are no buttons.
	Decide platform.Decide
	// StateDir is a folder of the app's own, made when needed: for messages whose
	// chats do not take them. Empty: the service has to bring such messages again.
	StateDir string
	// Webhook takes events that the service posts; nil: the long connection.
	Webhook *Webhook
	// Patience is how long a chat may refuse a message before that is set aside: the
	// service waits three seconds for an answer. 1 s by default.
	Patience time.Duration
	// Dial makes the connections of the long connection; nil: the usual way.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// PingEvery is how often the long connection is tried; 15 s by default.
	PingEvery time.Duration
	Now       func() time.Time
}

// Platform is one app. It is safe for concurrent use; Receive may run once at a time.
type Platform struct {
	opts      Options
	name      string
	client    *client
	markup    *markup.Renderer
	me        atomic.Pointer[identity]
	commands  map[string]bool
	admission *botkit.Admission
	host      atomic.Pointer[platform.Host] // while messages are taken
	life      atomic.Pointer[context.Context]
	working   sync.WaitGroup // of [Platform.beside]
	say       notices.Words
	ours      *recent.Map[string, bool]  // messages, by whether we sent them
	cards     *recent.Map[string, *card] // with buttons, by message: a press does not bring the card along
	streams   streams
	metrics   *metrics
	log       *slog.Logger
}

// identity is who the bot is.
type identity struct {
	OpenID string `json:"open_id"`
	Name   string `json:"app_name"`
}

var (
	_ platform.Platform = (*Platform)(nil)
	_ platform.Sender   = (*Platform)(nil)
	_ platform.Editor   = (*Platform)(nil)
)

const (
	defaultBaseURL = "https://open.feishu.cn"
	defaultPing    = 15 * time.Second
	// defaultPatience leaves two of the three seconds that the service waits.
	defaultPatience = time.Second
	// maxOurs is how many messages are known by who sent them.
	maxOurs = 4096
)

// New checks the options. It makes no calls.
func New(o Options) (*Platform, error) {
	if o.AppID == "" || o.AppSecret == nil || strings.TrimSpace(o.AppSecret()) == "" {
		return nil, errors.New("feishu: no app id or no app secret")
	}
	o = o.withDefaults()
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("feishu: the base URL is not a URL")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	name := "feishu"
	if o.Account != "" {
		name += "@" + o.Account
	}
	m, err := newMetrics(o.Registry, name)
	if err != nil {
		return nil, fmt.Errorf("feishu: metrics: %w", err)
	}
	p := &Platform{
		opts: o, name: name, client: newClient(base, o), markup: markup.New(), commands: map[string]bool{},
		say: wordsFor(base.Host), ours: recent.New[string, bool](maxOurs), cards: recent.New[string, *card](maxCards), streams: streams{known: recent.New[string, *stream](maxStreams)}, metrics: m, log: o.Logger.With("component", "feishu", "platform", name),
	}
	p.admission = botkit.NewAdmission(name, o.Access, o.AccessStore, o.Now, p.log)
	for _, c := range o.Commands {
		p.commands[c] = true
	}
	return p, nil
}

func (o Options) withDefaults() Options {
	o.BaseURL = cmp.Or(o.BaseURL, defaultBaseURL)
	o.Access = cmp.Or(o.Access, platform.AccessPaired)
	o.Drafts = cmp.Or(o.Drafts, DraftsOff)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Patience, o.PingEvery = cmp.Or(o.Patience, defaultPatience), cmp.Or(o.PingEvery, defaultPing)
	if o.Commands == nil {
		o.Commands = []string{"start", "stop", "help", "status", "new", "contexts", "load", "allow"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) check() error {
	var drafts error
	if o.Drafts != DraftsCard && o.Drafts != DraftsOff {
		drafts = fmt.Errorf("feishu: drafts is %q, not card or off", o.Drafts)
	}
	return errors.Join(botkit.CheckAccess("feishu", o.Access, platform.GroupsMention, o.Groups, o.AccessStore), drafts, o.Webhook.check())
}

// Name implements [platform.Platform].
func (p *Platform) Name() string { return p.name }

// Capabilities implements [platform.Platform].
func (p *Platform) Capabilities() platform.Capabilities {
	return platform.Capabilities{
		Outbox: true, ToolEgress: p.opts.Egress != "direct", MaxText: maxText, Buttons: p.opts.Decide != nil, Cards: p.opts.Decide != nil,
		VoiceIn: true, Files: platform.FileKinds(),
		Drafts: p.opts.Drafts == DraftsCard, DraftEvery: map[string]time.Duration{"": draftEvery},
		Rates: p.opts.Rates,
	}
}

// BotName is what the bot is called, once the service has said it.
func (p *Platform) BotName() string {
	if me := p.me.Load(); me != nil {
		return botkit.Tidy(me.Name, botkit.MaxName)
	}
	return ""
}
