package telegram

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options of a [Platform]. Only Token is required, and AccessStore unless Access is open.
type Options struct {
	// BotOptions has drafts that are [DraftsEdit], [DraftsDraft] or [DraftsOff].
	platform.BotOptions

	// Token returns the bot's token. It is called for each use, and its result is never stored or
	// printed.
	Token  func() string
	Groups string
	// FollowUp is how long somebody who talked with the bot in a group may continue without naming
	// it, with messages that read like a continuation; 0 disables this. It is not kept across
	// restarts.
	FollowUp time.Duration
	// RateLimit "off" removes the limits.
	RateLimit string
	// RichMessages sends formatted texts as rich messages, with headings, lists and tables, if the
	// server supports these.
	RichMessages bool
	// Reactions marks people's messages with their outcome.
	Reactions bool
	// Menu are the commands that the service lists to people. If nil, the service's list is
	// unchanged.
	Menu []platform.MenuEntry
	// Proxy is the proxy for the Bot API. If empty, the environment decides.
	Proxy string
	// Webhook makes the service push updates; nil means polling.
	Webhook *Webhook
	// PollTimeout is how long a poll waits for updates. The default is 3 s, so that a connection
	// that broke silently is noticed soon.
	PollTimeout time.Duration
}

// Platform is one bot. It is safe for concurrent use; Receive may run once at a time.
type Platform struct {
	opts      Options
	name      string
	client    *client
	markup    *markup.Renderer
	me        atomic.Pointer[models.User] // the bot's own account
	admission *botkit.Admission
	follows   *recent.Times // who talked with the bot in which group
	versions  *wire.Versions
	pauses    *pauses
	moves     *moves
	noMarks   *refusals   // chats that refuse reactions
	noDrafts  *refusals   // chats that do not support drafts
	noRich    atomic.Bool // the server does not support rich messages
	life      *botkit.Lifecycle
	presses   chan struct{} // one token for each press being answered
	announced atomic.Bool   // the list of commands was sent to the service
	metrics   *metrics
	log       *slog.Logger
}

var (
	_ platform.Platform = (*Platform)(nil)
	_ platform.Sender   = (*Platform)(nil)
	_ platform.Editor   = (*Platform)(nil)
	_ platform.Typer    = (*Platform)(nil)
	_ platform.Drafter  = (*Platform)(nil)
	_ platform.Marker   = (*Platform)(nil)
	_ platform.Named    = (*Platform)(nil)
)

// burst is how many messages a person may get at once. The service tolerates more than one per
// second only briefly.
const burst = 3

const (
	defaultBaseURL     = "https://api.telegram.org"
	defaultPollTimeout = 3 * time.Second
)

// New validates the options. It makes no calls.
func New(o Options) (*Platform, error) {
	if o.Token == nil || strings.TrimSpace(o.Token()) == "" {
		return nil, errors.New("telegram: no bot token")
	}
	o = o.withDefaults()
	base, err := o.Root()
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	proxy, err := url.Parse(o.Proxy)
	if err != nil || o.Proxy != "" && proxy.Host == "" {
		return nil, errors.New("telegram: the address of the proxy is not a URL with a host")
	}
	name := o.Name("telegram")
	p := &Platform{
		opts: o, name: name, client: newClient(base, proxy, o.Token, o.HTTPClient), markup: markup.New(),
		presses: make(chan struct{}, maxPresses), follows: recent.NewTimes(maxFollows, o.FollowUp, o.Now), metrics: newMetrics(o.Registry, name), log: o.Logger.With("component", "telegram", "platform", name),
	}
	p.life = botkit.NewLifecycle(p.log)
	p.admission = botkit.NewAdmission(name, platform.AccessRules{Access: o.Access, Groups: o.Groups}, o.AccessStore, o.Now, p.log)
	p.pauses, p.moves = newPauses(o.StateDir, o.Now, p.log), newMoves(o.StateDir, p.log)
	p.noMarks, p.noDrafts, p.versions = newRefusals(o.Now), newRefusals(o.Now), wire.NewVersions()
	return p, nil
}

func (o Options) withDefaults() Options {
	o.BotOptions = o.WithDefaults(defaultBaseURL, DraftsEdit)
	o.Groups, o.PollTimeout = cmp.Or(o.Groups, platform.GroupsMention), cmp.Or(o.PollTimeout, defaultPollTimeout)
	return o
}

func (o Options) check() error {
	var drafts error
	if o.Drafts != DraftsEdit && o.Drafts != DraftsDraft && o.Drafts != DraftsOff {
		drafts = fmt.Errorf("telegram: drafts is %q, not edit, draft or off", o.Drafts)
	}
	return errors.Join(botkit.CheckAccess("telegram", o.Access, o.Groups, nil, o.AccessStore), drafts, o.Webhook.check())
}

// SetRules implements [platform.Ruled].
func (p *Platform) SetRules(rules platform.AccessRules) error { return p.admission.SetRules(rules) }

// Name implements [platform.Platform].
func (p *Platform) Name() string { return p.name }

// Capabilities implements [platform.Platform].
func (p *Platform) Capabilities() platform.Capabilities {
	c := platform.Capabilities{
		Outbox: true, ToolEgress: p.opts.Egress != "direct", Drafts: p.opts.Drafts != DraftsOff, Threads: true, Reactions: p.opts.Reactions, Buttons: p.opts.Decide != nil, MaxText: maxText,
		Edits: true, VoiceIn: true, Files: platform.FileKinds(),
		DraftEvery: map[string]time.Duration{messages.ChatPrivate: 1200 * time.Millisecond, "": 3200 * time.Millisecond},
	}
	if p.opts.RateLimit != "off" {
		c.Rates = platform.Rates{
			PerChat: platform.Rate{N: 1, Per: time.Second}, PerGroup: platform.Rate{N: 20, Per: time.Minute},
			PerSender: platform.Rate{N: 30, Per: time.Second}, Burst: burst,
		}
	}
	return c
}
