package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options of a [Platform]. Only Token is required, and AccessStore unless Access is open.
type Options struct {
	// Token gives the bot's token. It is asked for at each use and never kept or printed.
	Token func() string
	// Account tells several bots of one host apart; empty: the only one.
	Account string
	// BaseURL is the root of the Bot API.
	BaseURL string
	Access  string
	Groups  string
	// FollowUp is how long somebody who talked with the bot in a group may continue
	// without naming it, with what reads so; 0: not at all. It is not kept over a restart.
	FollowUp time.Duration
	// RateLimit off drops the limits.
	RateLimit string
	// Egress is tool (the default) or direct.
	Egress string
	// Drafts is [DraftsEdit], [DraftsDraft] or [DraftsOff].
	Drafts string
	// RichMessages sends formatted texts as rich messages, with headings, lists and
	// tables, where the server knows these.
	RichMessages bool
	// Reactions marks people's messages with what became of them.
	Reactions bool
	// Commands are the names that the host answers, without the slash; other
	// words with a slash are text. Nil: the usual ones.
	Commands []string
	// Menu are the commands that the service lists to people; nil: what it has stays.
	Menu []platform.MenuEntry
	// Proxy is what the Bot API is reached through; empty: what the environment says.
	Proxy string
	// HTTPClient replaces the transport. Redirects are never followed.
	HTTPClient  *http.Client
	Logger      *slog.Logger
	Registry    prometheus.Registerer
	AccessStore platform.AccessStore
	// Language is what people chose for a chat, for the answers to commands: en, zh, or
	// empty for that of the sender's client. Nil: nothing was chosen anywhere.
	Language func(messages.ChatKey) string
	// Decide brings what people say by buttons to the core; nil: there are no buttons.
	Decide platform.Decide
	// StateDir is a folder of the bot's own, made when needed: for messages whose
	// chats do not take them. Empty: such messages hold up all later ones.
	StateDir string
	// Webhook makes the service bring updates instead of being polled; nil: poll.
	Webhook *Webhook
	// PollTimeout is how long a poll waits for updates; 3 s by default, so that a
	// connection that died without a word is noticed soon.
	PollTimeout time.Duration
	Now         func() time.Time
}

// Platform is one bot. It is safe for concurrent use; Receive may run once at a time.
type Platform struct {
	opts      Options
	name      string
	client    *client
	markup    *markup.Renderer
	me        atomic.Pointer[identity]
	commands  map[string]bool
	admission *botkit.Admission
	follows   *follows
	versions  *versions
	pauses    *pauses
	moves     *moves
	noMarks   *refusals                     // chats that want no reactions
	noDrafts  *refusals                     // chats that show no drafts
	noRich    atomic.Bool                   // the server knows no rich messages
	host      atomic.Pointer[platform.Host] // of the newest Receive; nil before the first
	life      atomic.Pointer[context.Context]
	presses   chan struct{} // a token for each button that is being answered
	pressing  sync.WaitGroup
	announced atomic.Bool // the commands, to the service
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

// burst is how many messages a person may get at once: more of them than one a
// second is what the service takes for a moment only.
const burst = 3

const (
	defaultBaseURL     = "https://api.telegram.org"
	defaultPollTimeout = 3 * time.Second
)

// New checks the options. It makes no calls.
func New(o Options) (*Platform, error) {
	if o.Token == nil || strings.TrimSpace(o.Token()) == "" {
		return nil, errors.New("telegram: no bot token")
	}
	o = o.withDefaults()
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("telegram: the base URL is not a URL")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	proxy, err := url.Parse(o.Proxy)
	if err != nil || o.Proxy != "" && proxy.Host == "" {
		return nil, errors.New("telegram: the address of the proxy is not a URL with a host")
	}
	name := "telegram"
	if o.Account != "" {
		name += "@" + o.Account
	}
	m, err := newMetrics(o.Registry, name)
	if err != nil {
		return nil, fmt.Errorf("telegram: metrics: %w", err)
	}
	p := &Platform{
		opts: o, name: name, client: newClient(base, proxy, o.Token, o.HTTPClient), markup: markup.New(),
		commands: map[string]bool{}, presses: make(chan struct{}, maxPresses), follows: newFollows(o.FollowUp, o.Now), metrics: m, log: o.Logger.With("component", "telegram", "platform", name),
	}
	p.admission = botkit.NewAdmission(name, o.Access, o.AccessStore, o.Now, p.log)
	p.pauses, p.moves = newPauses(o.StateDir, o.Now, p.log), newMoves(o.StateDir, p.log)
	p.noMarks, p.noDrafts, p.versions = newRefusals(o.Now), newRefusals(o.Now), newVersions()
	for _, c := range o.Commands {
		p.commands[c] = true
	}
	return p, nil
}

func (o Options) withDefaults() Options {
	o.BaseURL = cmp.Or(o.BaseURL, defaultBaseURL)
	o.Access, o.Groups = cmp.Or(o.Access, platform.AccessPaired), cmp.Or(o.Groups, platform.GroupsMention)
	o.Drafts = cmp.Or(o.Drafts, DraftsEdit)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.PollTimeout = cmp.Or(o.PollTimeout, defaultPollTimeout)
	if o.Commands == nil {
		o.Commands = []string{"start", "stop", "help", "status", "new", "contexts", "load", "allow", "activation"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func (o Options) check() error {
	var drafts error
	if o.Drafts != DraftsEdit && o.Drafts != DraftsDraft && o.Drafts != DraftsOff {
		drafts = fmt.Errorf("telegram: drafts is %q, not edit, draft or off", o.Drafts)
	}
	return errors.Join(botkit.CheckAccess("telegram", o.Access, o.Groups, nil, o.AccessStore), drafts, o.Webhook.check())
}

// Name implements [platform.Platform].
func (p *Platform) Name() string { return p.name }

// Capabilities implements [platform.Platform].
func (p *Platform) Capabilities() platform.Capabilities {
	c := platform.Capabilities{
		Outbox: true, ToolEgress: p.opts.Egress != "direct", Drafts: p.opts.Drafts != DraftsOff, Threads: true, Reactions: p.opts.Reactions, Buttons: p.opts.Decide != nil, MaxText: maxText,
		Edits: true, VoiceIn: true, Files: platform.FileKinds(),
		DraftEvery: map[string]time.Duration{"private": 1200 * time.Millisecond, "": 3200 * time.Millisecond},
	}
	if p.opts.RateLimit != "off" {
		c.Rates = platform.Rates{
			PerChat: platform.Rate{N: 1, Per: time.Second}, PerGroup: platform.Rate{N: 20, Per: time.Minute},
			PerSender: platform.Rate{N: 30, Per: time.Second}, Burst: burst,
		}
	}
	return c
}
