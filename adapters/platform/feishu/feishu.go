package feishu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/people"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

// Options of a [Platform]. AppID and AppSecret are required, and AccessStore unless Access is open.
type Options struct {
	// BotOptions has drafts that are [DraftsCard], or [DraftsOff] (the default).
	platform.BotOptions

	AppID string
	// AppSecret returns the app's secret. It is called for each use, and its result is never stored
	// or printed.
	AppSecret func() string
	// Groups are rules by chat id; * applies to all other groups.
	Groups map[string]platform.Group
	// Rates are the limits to respect.
	Rates platform.Rates
	// Administered: administrators of groups may make decisions there, so the app needs the scope
	// to list them.
	Administered bool
	// Webhook receives events that the service posts; nil means the long connection.
	Webhook *Webhook
	// Patience is how long a chat may refuse a message before it is set aside. The default is 1 s,
	// because the service waits three seconds for an answer.
	Patience time.Duration
	// Dial replaces the dialing of the long connection, if not nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// PingEvery is the interval of pings on the long connection; 15 s by default.
	PingEvery time.Duration
}

// Platform is one app. It is safe for concurrent use; Receive may run once at a time.
type Platform struct {
	opts      Options
	name      string
	client    *api.Client
	markup    *markup.Renderer
	me        atomic.Pointer[identity]
	admission *botkit.Admission
	names     *people.Names
	life      *botkit.Lifecycle
	say       notices.Words
	ours      *recent.Map[string, bool]  // by message: whether we sent it
	cards     *recent.Map[string, *card] // cards with buttons by message, because a press does not contain the card
	streams   streams
	metrics   *metrics
	log       *slog.Logger
}

// identity is the bot's own account.
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
	// maxOurs is how many messages are kept with who sent them.
	maxOurs = 4096
)

// New validates the options. It makes no calls.
func New(o Options) (*Platform, error) {
	if o.AppID == "" || o.AppSecret == nil || strings.TrimSpace(o.AppSecret()) == "" {
		return nil, errors.New("feishu: no app id or no app secret")
	}
	o = o.withDefaults()
	base, err := o.Root()
	if err != nil {
		return nil, fmt.Errorf("feishu: %w", err)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	name := o.Name("feishu")
	p := &Platform{
		opts: o, name: name, client: api.New(base, o.AppID, o.AppSecret, o.Now, o.HTTPClient), markup: markup.New(),
		say: wordsFor(base.Host), ours: recent.New[string, bool](maxOurs), cards: recent.New[string, *card](maxCards), streams: streams{known: recent.New[string, *stream](maxStreams)}, metrics: newMetrics(o.Registry, name), log: o.Logger.With("component", "feishu", "platform", name),
	}
	p.names = people.New(p.askName, o.Now, func(err error) {
		p.log.Warn("names of people cannot be read, so their ids are shown; the app needs the permission "+scopeNames, "error", err)
	})
	p.life = botkit.NewLifecycle(p.log)
	p.admission = botkit.NewAdmission(name, platform.AccessRules{Access: o.Access, Listed: o.Groups}, o.AccessStore, o.Now, p.log)
	return p, nil
}

func (o Options) withDefaults() Options {
	o.BotOptions = o.WithDefaults(defaultBaseURL, DraftsOff)
	o.Patience, o.PingEvery = cmp.Or(o.Patience, defaultPatience), cmp.Or(o.PingEvery, defaultPing)
	return o
}

func (o Options) check() error {
	var drafts error
	if o.Drafts != DraftsCard && o.Drafts != DraftsOff {
		drafts = fmt.Errorf("feishu: drafts is %q, not card or off", o.Drafts)
	}
	return errors.Join(botkit.CheckAccess("feishu", o.Access, platform.GroupsMention, o.Groups, o.AccessStore), drafts, o.Webhook.check())
}

// SetRules implements [platform.Ruled].
func (p *Platform) SetRules(rules platform.AccessRules) error { return p.admission.SetRules(rules) }

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
