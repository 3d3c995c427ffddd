package platforms

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

const feishuName = "feishu"

// feishuApp describes Feishu, which is called Lark elsewhere.
func feishuApp() Descriptor {
	return Descriptor{
		Name: feishuName, Label: "Feishu", Off: "set adapters.feishu.appId and appSecret to switch it on",
		Settings: func(a config.Adapters) Settings {
			f := a.Feishu
			return Settings{Enabled: f.Enabled, Egress: f.Egress, Access: f.Access}
		},
		Rules: func(a *config.Adapters, _ string) (platform.AccessRules, bool) {
			return platform.AccessRules{Access: a.Feishu.Access, Listed: feishuGroups(a.Feishu.Groups)}, true
		},
		Open: openFeishu, Ask: askFeishu,
		Check:       func(s config.Settings, _ string) []checkup.Finding { return checkFeishu(s) },
		PrivateType: messages.ChatP2P,
		GroupContext: func(a config.Adapters, chat string) int { // no message of a private chat is unaddressed
			if own := a.Feishu.Groups[chat].GroupContext; own != nil {
				return *own
			}
			return a.Feishu.GroupContext
		},
	}
}

// openFeishu prepares the app, which receives events by webhook or long connection as the settings choose.
func openFeishu(ctx context.Context, env Env) ([]Bot, error) {
	s := env.Settings.Adapters.Feishu
	hook, err := feishuHook(ctx, env)
	if err != nil {
		return nil, err
	}
	o := feishu.Options{
		BotOptions: env.Bots, AppID: s.AppID, AppSecret: s.AppSecret.Reveal, Groups: feishuGroups(s.Groups), Rates: feishuRates(s.RateLimit), Webhook: hook,
	}
	o.BaseURL, o.Access, o.Drafts, o.StateDir = s.BaseURL, s.Access, s.Drafts, filepath.Join(env.State, "adapters", feishuName)
	return []Bot{{Name: feishuName, New: func(decide platform.Decide) (platform.Platform, error) {
		o.Decide = decide
		return feishu.New(o)
	}}}, nil
}

// feishuHook is the webhook, or nil if events use the long connection.
func feishuHook(ctx context.Context, env Env) (*feishu.Webhook, error) {
	s := env.Settings.Adapters.Feishu
	if s.Receive != "webhook" {
		return nil, nil
	}
	l, err := env.Listen(ctx, s.Webhook.Listen, "127.0.0.1:8446")
	if err != nil {
		return nil, err
	}
	return &feishu.Webhook{
		Path: s.Webhook.Path, Listener: l, EncryptKey: s.EncryptKey.Reveal, VerificationToken: s.VerificationToken.Reveal,
	}, nil
}

// feishuGroups converts the rules of the settings.
func feishuGroups(set map[string]config.Group) map[string]platform.Group {
	groups := map[string]platform.Group{}
	for id, g := range set {
		addressed := g.Addressed
		if addressed == "always" { // the older name
			addressed = platform.GroupsAll
		}
		groups[id] = platform.Group{Access: g.Access, Addressed: addressed}
	}
	return groups
}

// feishuMissing asks the service which scopes the configured app lacks.
func feishuMissing(ctx context.Context, all config.Settings) ([]feishu.Need, error) {
	s := all.Adapters.Feishu
	app, err := feishu.New(feishu.Options{
		BotOptions: platform.BotOptions{BaseURL: s.BaseURL, Access: platform.AccessOpen, Drafts: s.Drafts},
		AppID:      s.AppID, AppSecret: s.AppSecret.Reveal, Groups: feishuGroups(s.Groups),
		Administered: slices.Contains(all.Permissions.Exec.Approvers, "platformAdmins"),
	})
	if err != nil {
		return nil, err
	}
	return app.Missing(ctx)
}

// feishuRates converts the limits of the settings; 0 means unlimited.
func feishuRates(l config.RateLimit) platform.Rates {
	rate := func(n config.Limit, per time.Duration) platform.Rate { return platform.Rate{N: int(n), Per: per} }
	return platform.Rates{
		PerSender: rate(l.PerSecond, time.Second), PerChat: rate(l.PerChatPerSecond, time.Second), PerGroup: rate(l.PerGroupPerMinute, time.Minute),
	}
}

// feishuNeeds are the permissions that the app needs in the developer console. The service reports which scopes it
// has, but not which events.
const feishuNeeds = "scopes im:message, im:message.p2p_msg:readonly, im:message.group_at_msg:readonly, im:message:send_as_bot, im:resource, cardkit:card:write, cardkit:card:read" +
	" (im:message.group_msg to hear groups without a mention, im:chat:readonly for platformAdmins); events im.message.receive_v1, im.message.recalled_v1" +
	" (im.chat.member.bot.added_v1, im.chat.member.bot.deleted_v1 and im.chat.disbanded_v1, with im:chat.members:bot_access, to be asked about groups at once); callback card.action.trigger"

// askFeishu lists every scope that the app lacks.
func askFeishu(ctx context.Context, s config.Settings) []checkup.Finding {
	const name = "feishu"
	if !s.Adapters.Feishu.Enabled {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkup.FetchTimeout)
	defer cancel()
	needs, err := feishuMissing(ctx, s)
	if errors.Is(err, feishu.ErrSecret) {
		return []checkup.Finding{checkup.New(name, checkup.Refused, "the service refuses the app's id or secret", "copy App ID and App Secret again from the developer console, Credentials & Basic Info")}
	}
	if err != nil {
		return []checkup.Finding{checkup.New(name, checkup.Fail, "the service does not say what the app may: "+checkup.ErrText(err), "check adapters.feishu.appId, the app secret and the network")}
	}
	var out []checkup.Finding
	for _, n := range needs {
		mark := checkup.Warn
		if n.Must {
			mark = checkup.Fail
		}
		out = append(out, checkup.New(name, mark, "the scope "+n.Scope()+" is missing: "+n.For, "developer console, Permissions & Scopes: add "+n.Scope()+", then publish a version"))
	}
	if len(out) == 0 {
		out = append(out, checkup.New(name, checkup.OK, "the app has every scope that it needs", ""))
	}
	return out
}

// checkFeishu checks the app's settings without contacting the service.
func checkFeishu(s config.Settings) []checkup.Finding {
	const name = "feishu"
	f := s.Adapters.Feishu
	if !f.Enabled {
		return []checkup.Finding{checkup.New(name, checkup.OK, "off", "")}
	}
	var out []checkup.Finding
	if !regexp.MustCompile(`^cli_[A-Za-z0-9]{8,}$`).MatchString(f.AppID) {
		out = append(out, checkup.New(name, checkup.Fail, "the app id has not the form cli_…", "copy it again from the developer console, Credentials & Basic Info"))
	}
	if s.LLM.Provider == config.ProviderDemo {
		out = append(out, checkup.New(name, checkup.Fail, "Feishu is on, but the demo model answers on this machine only", "set OPENAI_API_KEY"))
	}
	if f.Access == config.AccessOpen {
		out = append(out, checkup.New(name, checkup.Warn, "everybody who finds the app may talk to it", "set adapters.feishu.access to paired"))
	}
	if f.Receive == "webhook" && f.VerificationToken.IsZero() {
		out = append(out, checkup.New(name, checkup.Warn, "the verification token of events is not checked", "set adapters.feishu.verificationToken"))
	}
	if len(out) == 0 {
		out = append(out, checkup.New(name, checkup.OK, "on, by "+f.Receive, ""))
	}
	return append(out, checkup.New(name, checkup.OK, "the app needs "+feishuNeeds, ""))
}
