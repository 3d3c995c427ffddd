package platforms

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

const telegramName = "telegram"

func telegramBots() Descriptor {
	return Descriptor{
		Name: telegramName, Label: "Telegram", Off: "set TELEGRAM_BOT_TOKEN to switch it on",
		Settings: func(a config.Adapters) Settings {
			t := a.Telegram
			return Settings{Enabled: t.Enabled, Egress: t.Egress, Access: t.Access, Accounts: slices.Sorted(maps.Keys(t.Accounts))}
		},
		Rules: func(a *config.Adapters, account string) (platform.AccessRules, bool) {
			t := &a.Telegram
			own, ok := t.Accounts[account]
			return platform.AccessRules{Access: cmp.Or(own.Access, t.Access), Groups: cmp.Or(own.Groups, t.Groups)}, ok || account == ""
		},
		Open: openTelegram, Check: checkTelegram,
		Ask: func(ctx context.Context, s config.Settings) []checkup.Finding {
			return askTelegram(ctx, s.Adapters.Telegram)
		},
		OwnerLink:   func(link, code string) string { return link + "?start=" + code },
		PrivateType: messages.ChatPrivate, PersonIDs: true,
		GroupContext: func(a config.Adapters, chat string) int {
			if !messages.IsGroup("", chat) {
				return 0
			}
			return a.Telegram.GroupContext
		},
	}
}

func openTelegram(ctx context.Context, env Env) ([]Bot, error) {
	s := env.Settings.Adapters.Telegram
	hook, err := telegramHook(ctx, env)
	if err != nil {
		return nil, err
	}
	first := telegram.Options{
		BotOptions: env.Bots, Token: s.BotToken.Reveal, Proxy: s.Proxy, Groups: s.Groups, FollowUp: time.Duration(s.FollowUpMinutes) * time.Minute,
		RateLimit: strings.TrimPrefix(s.RateLimit, config.RateLimitStandard), Reactions: s.Reactions, RichMessages: s.RichMessages, Menu: env.Menu, Webhook: hook,
	}
	first.BaseURL, first.Access, first.Drafts = s.BaseURL, s.Access, s.Drafts
	out := []Bot{telegramBot(env, first)}
	for _, name := range slices.Sorted(maps.Keys(s.Accounts)) {
		account, bot := s.Accounts[name], first
		bot.Account, bot.Token, bot.Webhook = name, account.BotToken.Reveal, nil
		bot.Access, bot.Groups = cmp.Or(account.Access, bot.Access), cmp.Or(account.Groups, bot.Groups)
		out = append(out, telegramBot(env, bot))
	}
	return out, nil
}

func telegramBot(env Env, o telegram.Options) Bot {
	o.StateDir = filepath.Join(env.State, "adapters", o.Name(telegramName))
	return Bot{Name: o.Name(telegramName), New: func(decide platform.Decide) (platform.Platform, error) {
		o.Decide = decide
		return telegram.New(o)
	}}
}

// telegramHook is the webhook of the first bot, or nil if it polls.
func telegramHook(ctx context.Context, env Env) (*telegram.Webhook, error) {
	s := env.Settings.Adapters.Telegram.Webhook
	if s.URL == "" {
		return nil, nil
	}
	l, err := env.Listen(ctx, s.Listen, "127.0.0.1:8444")
	if err != nil {
		return nil, err
	}
	return &telegram.Webhook{URL: s.URL, Secret: s.Secret.Reveal, Listener: l}, nil
}

// tokenForm reports whether a text looks like a bot token.
func tokenForm(token string) bool {
	return regexp.MustCompile(`^\d+:[A-Za-z0-9_-]{3,}$`).MatchString(token)
}

func checkTelegram(s config.Settings, state string) []checkup.Finding {
	t := s.Adapters.Telegram
	if !t.Enabled {
		return []checkup.Finding{checkup.New("telegram", checkup.OK, "off", "")}
	}
	var out []checkup.Finding
	if !tokenForm(t.BotToken.Reveal()) {
		out = append(out, checkup.New("telegram", checkup.Fail, "the bot token has not the form 123456:ABC…", "copy it again from @BotFather"))
	}
	if s.LLM.Provider == config.ProviderDemo {
		out = append(out, checkup.New("telegram", checkup.Fail, "Telegram is on, but the demo model answers on this machine only", "set OPENAI_API_KEY"))
	}
	if t.Access == config.AccessOpen {
		out = append(out, checkup.New("telegram", checkup.Warn, "everybody may talk to the bot", "set adapters.telegram.access to paired"))
	} else if _, err := os.Stat(filepath.Join(state, "access.json")); err == nil {
		if _, err := access.Open(filepath.Join(state, "access.json"), access.Options{}); err != nil {
			out = append(out, checkup.New("telegram", checkup.Fail, checkup.ErrText(err), ""))
		}
	}
	if len(out) == 0 {
		out = append(out, checkup.New("telegram", checkup.OK, "on", ""))
	}
	return out
}

// askTelegram requests the names of the bots.
func askTelegram(ctx context.Context, t config.Telegram) []checkup.Finding {
	if !t.Enabled {
		return nil
	}
	transport := http.RoundTripper(http.DefaultTransport)
	if address, err := url.Parse(t.Proxy); err == nil && t.Proxy != "" {
		transport = &http.Transport{Proxy: http.ProxyURL(address)}
	}
	out := []checkup.Finding{askBot(ctx, transport, t.BaseURL, "telegram", t.BotToken)}
	for _, name := range slices.Sorted(maps.Keys(t.Accounts)) {
		out = append(out, askBot(ctx, transport, t.BaseURL, "telegram@"+name, t.Accounts[name].BotToken))
	}
	return out
}

func askBot(ctx context.Context, via http.RoundTripper, root, name string, token config.Secret) checkup.Finding {
	status, body, err := checkup.Fetch(ctx, via, strings.TrimRight(root, "/")+"/bot"+token.Reveal()+"/getMe", nil)
	var who struct {
		Result struct{ Username string }
	}
	switch {
	case err != nil:
		return checkup.New(name, checkup.Fail, root+" cannot be reached: "+err.Error(), cmp.Or(checkup.ConnectionFix(err.Error()), "check the network, adapters.telegram.proxy and HTTPS_PROXY"))
	case status == http.StatusUnauthorized || status == http.StatusNotFound:
		return checkup.New(name, checkup.Refused, fmt.Sprintf("the token is refused (%d)", status), "copy it again from @BotFather")
	case status != http.StatusOK || json.Unmarshal(body, &who) != nil:
		return checkup.New(name, checkup.Warn, fmt.Sprintf("%s answers %d now", root, status), "try again in a minute")
	}
	return checkup.New(name, checkup.OK, "the token is that of @"+checkup.OneLine(who.Result.Username, 64), "")
}
