package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// The names of the platforms that the host itself serves.
const (
	nameWeb = "web"
	nameCLI = "cli"
	nameAPI = "api"
)

// platformStart is a platform that is about to start.
type platformStart struct {
	name    string
	egress  string // its setting
	build   func(live platform.Live) (platform.Platform, error)
	open    func(p platform.Platform, host platform.Host)                            // called before messages are accepted; may be nil
	receive func(ctx context.Context, p platform.Platform, host platform.Host) error // nil for the platform's own
}

// startPlatforms connects the platforms to the actors, wakes the chats with unfinished work, and starts to accept
// messages.
func (h *Host) startPlatforms(ctx context.Context) error {
	up := promauto.With(h.registry).NewGaugeVec(prometheus.GaugeOpts{
		Name: "sma_platform_up", Help: "1 while a platform works, otherwise 0.",
	}, []string{"platform"})
	places, err := h.startingPlatforms(ctx)
	if err != nil {
		return err
	}
	for _, p := range places {
		if err := h.connect(ctx, p, up.WithLabelValues(p.name)); err != nil {
			return err
		}
	}
	if err := h.wake(ctx); err != nil {
		return err
	}
	h.expectCredentials(places)
	for _, p := range places {
		if made := h.ports[p.name]; p.open != nil {
			p.open(made.platform, made.port)
		}
		h.receive(p)
	}
	return nil
}

// offer is a platform that the settings may enable.
type offer struct {
	name, off string
	on        bool
	open      func(context.Context) ([]platformStart, error)
}

// startingPlatforms are the enabled platforms. The others are reported as off, with the reason.
func (h *Host) startingPlatforms(ctx context.Context) ([]platformStart, error) {
	var out []platformStart
	a := h.opts.Settings.Settings.Adapters
	offers := []offer{
		{nameCLI, "adapters.cli.enabled is false", a.CLI.Enabled, h.cliPlatform},
		{nameWeb, "adapters.web.enabled is false", a.Web.Enabled, h.webPlatform},
	}
	for _, d := range h.services {
		offers = append(offers, offer{d.Name, d.Off, d.Settings(a).Enabled, func(ctx context.Context) ([]platformStart, error) { return h.botPlatforms(ctx, d) }})
	}
	for _, o := range offers {
		if !o.on || len(h.opts.Only) > 0 && !slices.Contains(h.opts.Only, o.name) {
			h.board.platform(PlatformStatus{Name: o.name, Note: o.off})
			continue
		}
		opened, err := o.open(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, opened...)
	}
	return out, nil
}

// botPlatforms are the bots of a service.
func (h *Host) botPlatforms(ctx context.Context, d platforms.Descriptor) ([]platformStart, error) {
	own := d.Settings(h.opts.Settings.Settings.Adapters).Egress
	egress, err := h.readyBot(d.Label, d.Name, own)
	if err != nil {
		return nil, err
	}
	bots, err := d.Open(ctx, platforms.Env{
		Settings: h.opts.Settings.Settings, State: h.opts.State, Menu: h.commands().Menu(),
		Bots: platform.BotOptions{
			Egress: egress, Commands: commands.Names(h.opts.Settings.Settings.Context.Contexts.Enabled),
			AccessStore: h.access, Language: h.preferences.Language, Logger: h.opts.Logger, Registry: h.registry,
		},
		Listen: func(ctx context.Context, address, other string) (net.Listener, error) {
			return h.listenHook(ctx, d.Label, d.Name, address, other)
		},
	})
	if err != nil {
		return nil, err
	}
	var out []platformStart
	for _, bot := range bots {
		out = append(out, platformStart{
			name: bot.Name, egress: own,
			build: func(live platform.Live) (platform.Platform, error) { return bot.New(live.Decide) },
		})
	}
	return out, nil
}

// starting is the note of a platform whose service has not answered yet.
const starting = "starting"

// connect makes a platform, its adapter actor and its port.
func (h *Host) connect(ctx context.Context, p platformStart, up prometheus.Gauge) error {
	pid := guardian.PID(h.system, adapter.Name(p.name))
	h.board.platform(PlatformStatus{Name: p.name, On: true, Note: starting})
	live := adapter.NewPort(h.system, pid, adapter.PortOptions{
		Platform: p.name,
		OnStatus: func(ok bool, note string) {
			h.board.platform(PlatformStatus{Name: p.name, On: true, Up: ok, Note: note})
			value := 0.0
			if ok {
				h.refusals.works(p.name)
				value = 1
			}
			up.Set(value)
		},
	})
	made, err := p.build(h.deciders.Informed(live))
	if err != nil {
		return &Failure{Kind: KindConfig, What: p.name + " cannot be set up", Why: err, Help: "sma config check --dir " + h.folder()}
	}
	props := adapter.Props(adapter.Options{Platform: made, Router: h.router, Logger: h.opts.Logger, Metrics: h.portMetrics})
	if err := h.spawn(ctx, adapter.Name(p.name), h.workers.With(props)); err != nil {
		return err
	}
	h.board.platform(PlatformStatus{Name: p.name, On: true, Note: starting, Can: made.Capabilities().Words()})
	h.ports[p.name] = &port{platform: made, port: live, pid: pid, adapter: h.via(made, pid, p.egress)}
	if served, ok := made.(*web.Platform); ok && p.name == nameWeb {
		api := *h.ports[nameWeb]
		api.adapter = h.via(served.API(), pid, h.opts.Settings.Settings.Adapters.API.Egress)
		h.ports[nameAPI] = &api
	}
	return nil
}

// via is what chats know about their platform.
func (h *Host) via(made platform.Platform, pid *actor.PID, egress string) decision.Adapter {
	caps := made.Capabilities()
	_, types := made.(platform.Typer)
	kind, _, _ := strings.Cut(made.Name(), "@")
	service, _ := h.services.Of(kind)
	via := decision.Adapter{
		Ref: pid, Outbox: caps.Outbox, ToolEgress: h.toolEgress(made.Name(), egress, caps.ToolEgress), Drafts: caps.Drafts, Typing: types, Reactions: caps.Reactions,
		MaxText: caps.MaxText, Parts: partsOf(made), Documents: caps.Sends(platform.FileDocument), PrivateType: service.PrivateType,
	}
	if named, ok := made.(platform.Mentioned); ok {
		via.Self = named.Username
	}
	return via
}

// partsOf returns a function that counts the messages that a text takes, or nil if the platform does not send. If
// rendering the text panics it counts one message, since the adapter reports the panic.
func partsOf(p platform.Platform) func(text string) int {
	sender, ok := p.(platform.Sender)
	if !ok {
		return nil
	}
	return func(text string) (n int) {
		defer func() {
			if recover() != nil {
				n = 1
			}
		}()
		return len(sender.Plan(platform.Outbound{Text: text}))
	}
}

// toolEgress reports whether answers are sent with chat_send: the platform's own setting decides, then the project's,
// then the platform's default.
func (h *Host) toolEgress(name, own string, habit bool) bool {
	if llm := h.opts.Settings.Settings.LLM; !endpoints.TakesTools(llm, llm.Model) {
		return false // it could not call chat_send
	}
	name, _, _ = strings.Cut(name, "@") // the accounts of a platform share its setting
	if h.opts.Settings.Origin("adapters."+name+".egress").Source != config.FromDefault {
		return own == config.EgressTool
	}
	switch h.opts.Settings.Settings.Context.ChatEgress.Mode {
	case config.EgressTool:
		return true
	case config.EgressDirect:
		return false
	default:
		return habit
	}
}

// webPlatform listens at once, so that a port in use stops the start.
func (h *Host) webPlatform(ctx context.Context) ([]platformStart, error) {
	s := h.opts.Settings.Settings.Adapters
	l, err := h.listen(ctx, s.Web.Listen)
	if err != nil {
		return nil, err
	}
	// This closes the listener if a start fails before the server owns it; afterwards it has no effect.
	h.cleanups.add("web listener", func(context.Context) error { _ = l.Close(); return nil })
	h.webAddr = "http://" + reachable(l.Addr())
	return []platformStart{{
		name: nameWeb, egress: s.Web.Egress,
		build: func(live platform.Live) (platform.Platform, error) {
			o := h.webOptions(nameWeb, live)
			o.Listen = s.Web.Listen
			o.Token, o.Open, o.ViewerToken = h.login.token.Reveal, h.login.by == LoginOpen, s.Web.ViewerToken.Reveal
			// Two containers may have state folders of the same name, but not the same random token.
			o.Console, o.Bot = h.console(), h.opts.State+"\n"+h.login.kept.Reveal()
			if h.login.by == LoginFile { // the token is random, so that logins last over restarts
				o.SessionSecret = h.login.token.Reveal()
			}
			if s.API.Enabled {
				o.APIToken = s.API.Token.Reveal
			}
			return web.New(o)
		},
		open: func(_ platform.Platform, host platform.Host) { host.Status(true, h.webAddr) },
		receive: func(ctx context.Context, p platform.Platform, _ platform.Host) error {
			served, ok := p.(*web.Platform)
			if !ok { // Unreachable: build makes nothing else
				return fmt.Errorf("%T is not a web platform", p)
			}
			return served.Serve(ctx, l)
		},
	}}, nil
}

// reachable is an address at which this machine reaches a listener, also one on all addresses.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err == nil && net.ParseIP(host).IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return a.String()
}

// listen opens the web address.
func (h *Host) listen(ctx context.Context, address string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &Failure{
			Kind: KindUnreachable, What: address + " is taken by another program",
			Help: "stop that program, or choose another port: --set adapters.web.listen=127.0.0.1:3001",
		}
	case err != nil:
		return nil, &Failure{Kind: KindUnreachable, What: "the web chat cannot listen on " + address, Why: err, Help: "--set adapters.web.listen=127.0.0.1:3001"}
	default:
		return l, nil
	}
}

// webOptions are the options that the web chat and the terminal chat share.
func (h *Host) webOptions(name string, live platform.Live) web.Options {
	return web.Options{
		Platform: name, Live: live, Logger: h.opts.Logger.With("component", name), Registerer: h.registry,
		Chats: h.chatLister(name, live), Commands: h.commands().Web(), Voice: h.chatFiles().OpenVoice, Files: h.uploads(), Failure: notices.FailureWords,
		Forget: func(ctx context.Context, key messages.ChatKey) error {
			_, err := h.desk().Forget(ctx, query.ForgetOrder{ChatKey: key})
			return err
		},
		Rename: func(_ context.Context, key messages.ChatKey, title string) error {
			if err := query.Present(h.store, key); err != nil {
				return err
			}
			return h.preferences.SetTitle(key, title)
		},
		Info: func() web.Info {
			return web.Info{Project: h.project(), Model: h.modelLabel(), Demo: h.demo(), Version: h.opts.Version}
		},
	}
}

// cliPlatform serves the terminal chat over the control socket.
func (h *Host) cliPlatform(context.Context) ([]platformStart, error) {
	return []platformStart{{
		name: nameCLI, egress: h.opts.Settings.Settings.Adapters.CLI.Egress,
		build: func(live platform.Live) (platform.Platform, error) {
			o := h.webOptions(nameCLI, live)
			o.Private = true
			return web.New(o)
		},
		open: func(p platform.Platform, host platform.Host) {
			if served, ok := p.(*web.Platform); ok {
				h.control.setChats(served.Handler())
			}
			host.Status(true, "sma chat")
		},
		receive: func(ctx context.Context, p platform.Platform, host platform.Host) error {
			<-ctx.Done()
			h.control.setChats(http.NotFoundHandler())
			if served, ok := p.(*web.Platform); ok {
				served.Close()
			}
			host.Status(false, "stopped")
			return nil
		},
	}}, nil
}

// readyBot prepares what the bots of a service need, and decides how their answers are sent. label is what people
// call the service.
func (h *Host) readyBot(label, name, own string) (egress string, err error) {
	if h.demo() {
		return "", &Failure{
			Kind: KindConfig, What: label + " is switched on, but no model is: the demo model answers on this machine only",
			Help: "set OPENAI_API_KEY, or adapters." + name + ".enabled=false",
		}
	}
	if h.access == nil {
		people, err := access.Open(filepath.Join(h.opts.State, "access.json"), access.Options{})
		if err != nil {
			return "", &Failure{Kind: KindConfig, What: "the people who may use the bot cannot be read", Why: err, Help: "sma doctor --dir " + h.folder()}
		}
		h.access = people
	}
	if h.toolEgress(name, own, true) {
		return config.EgressTool, nil
	}
	return config.EgressDirect, nil
}

// listenHook listens for the webhook of a service at once, so that a port in use stops the start.
func (h *Host) listenHook(ctx context.Context, label, name, address, other string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &Failure{
			Kind: KindUnreachable, What: label + "'s webhook cannot listen on " + address, Why: err,
			Help: "choose another port: --set adapters." + name + ".webhook.listen=" + other,
		}
	}
	h.hookAddr = cmp.Or(h.hookAddr, l.Addr().String())
	h.cleanups.add(name+" webhook listener", func(context.Context) error { _ = l.Close(); return nil })
	return l, nil
}

// groupContext is how many unaddressed messages of a group are quoted with the turn that addresses the bot; 0 for
// other chats.
func (h *Host) groupContext(key messages.ChatKey) int {
	a, ok := key.Address()
	d, known := h.services.Of(a.Platform)
	if !ok || !known {
		return 0
	}
	return d.GroupContext(h.settings().Adapters, a.Chat)
}
