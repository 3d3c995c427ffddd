package host

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/config"
)

// feishuPlace is the Feishu app, with events by webhook or long connection as the settings choose.
func (h *Host) feishuPlace(ctx context.Context) (place, error) {
	s := h.opts.Settings.Settings.Adapters.Feishu
	egress, err := h.readyBot("Feishu", nameFeishu, s.Egress)
	if err != nil {
		return place{}, err
	}
	hook, err := h.feishuHook(ctx)
	if err != nil {
		return place{}, err
	}
	return place{
		name: nameFeishu, egress: s.Egress,
		build: func(live platform.Live) (platform.Platform, error) {
			return feishu.New(feishu.Options{
				AppID: s.AppID, AppSecret: s.AppSecret.Reveal, BaseURL: s.BaseURL, Access: s.Access, Groups: feishuGroups(s), Rates: feishuRates(s.RateLimit),
				Egress: egress, Drafts: s.Drafts, Commands: commands.Names(h.opts.Settings.Settings.Context.Contexts.Enabled), Logger: h.opts.Logger, Registry: h.registry,
				AccessStore: h.access, Language: h.preferences.Language, Decide: live.Decide, StateDir: filepath.Join(h.opts.State, "adapters", nameFeishu), Webhook: hook,
			})
		},
	}, nil
}

// feishuGroups converts the rules of the settings.
func feishuGroups(s config.Feishu) map[string]platform.Group {
	groups := map[string]platform.Group{}
	for id, g := range s.Groups {
		addressed := g.Addressed
		if addressed == "always" { // the older name
			addressed = platform.GroupsAll
		}
		groups[id] = platform.Group{Access: g.Access, Addressed: addressed}
	}
	return groups
}

// FeishuMissing asks the service which scopes the configured app lacks.
func FeishuMissing(ctx context.Context, all config.Settings) ([]feishu.Need, error) {
	s := all.Adapters.Feishu
	app, err := feishu.New(feishu.Options{
		AppID: s.AppID, AppSecret: s.AppSecret.Reveal, BaseURL: s.BaseURL, Access: platform.AccessOpen, Groups: feishuGroups(s), Drafts: s.Drafts,
		Administered: slices.Contains(all.Permissions.Exec.Approvers, approverAdmins),
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

// feishuHook is the webhook, or nil if events use the long connection.
func (h *Host) feishuHook(ctx context.Context) (*feishu.Webhook, error) {
	s := h.opts.Settings.Settings.Adapters.Feishu
	if s.Receive != "webhook" {
		return nil, nil
	}
	l, err := h.listenHook(ctx, "Feishu", nameFeishu, s.Webhook.Listen, "127.0.0.1:8446")
	if err != nil {
		return nil, err
	}
	h.hookAddr = cmp.Or(h.hookAddr, l.Addr().String())
	return &feishu.Webhook{
		Path: s.Webhook.Path, Listener: l, EncryptKey: s.EncryptKey.Reveal, VerificationToken: s.VerificationToken.Reveal,
	}, nil
}
