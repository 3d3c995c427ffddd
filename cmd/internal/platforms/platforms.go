// Package platforms describes the services whose bots people write to. Each service has one file with one
// [Descriptor], which holds everything that the host, sma doctor and sma pair need to know about it; [All] is the
// table of them. The web chat and the terminal chat are not in the table, since the host itself serves them.
package platforms

import (
	"context"
	"net"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/config"
)

// Descriptor describes one service.
type Descriptor struct {
	Name  string // as in the keys of chats and below adapters in the settings
	Label string // what people call the service
	Off   string // says what switches the bots on, while they are off
	// Settings reads what all services have in common.
	Settings func(config.Adapters) Settings
	// Rules reads who may talk to a bot; account is empty for the first one. ok is false if there is no such account.
	Rules func(a *config.Adapters, account string) (rules platform.AccessRules, ok bool)
	// Open prepares the bots. It listens for webhooks at once, so that a port in use stops the start.
	Open func(context.Context, Env) ([]Bot, error)
	// Check checks the settings without contacting the service.
	Check func(s config.Settings, state string) []checkup.Finding
	// Ask asks the service whether it accepts the credentials and what the bots may do. It changes nothing.
	Ask func(context.Context, config.Settings) []checkup.Finding
	// OwnerLink turns the link that opens a chat with the bot into one that also sends the code of its owner. It is nil
	// if the service has no such links.
	OwnerLink func(link, code string) string
	// PrivateType is the service's type of a private chat.
	PrivateType string
	// PersonIDs says that the id of a private chat is that of its person, which no group has.
	PersonIDs bool
	// GroupContext is how many unaddressed messages of a chat are quoted with the turn that addresses the bot.
	GroupContext func(a config.Adapters, chat string) int
}

// Settings are the settings that all services have in common.
type Settings struct {
	Enabled bool
	Egress  string
	Access  string
	// Accounts are the sorted names of further bots.
	Accounts []string
}

// Env is what the host provides to the bots of a service.
type Env struct {
	Settings config.Settings
	State    string // the project's state folder
	// Bots is what the bots of all services get; their settings complete it.
	Bots platform.BotOptions
	Menu []platform.MenuEntry
	// Listen listens for webhooks. Its error proposes the other address.
	Listen func(ctx context.Context, address, other string) (net.Listener, error)
}

// Bot is one account of a service.
type Bot struct {
	Name string // that of the service, and for further bots @ and the account
	New  func(decide platform.Decide) (platform.Platform, error)
}

// Table lists services.
type Table []Descriptor

// All is the table of all services. The first one is the default of sma pair.
func All() Table {
	return Table{telegramBots(), feishuApp()}
}

// Of returns the service that a platform name belongs to, which may include an account.
func (t Table) Of(name string) (Descriptor, bool) {
	name, _, _ = strings.Cut(name, "@")
	for _, d := range t {
		if d.Name == name {
			return d, true
		}
	}
	return Descriptor{}, false
}

// Follow makes a running bot follow what new settings say about who may talk to it, and returns the changed keys that
// are about something else. Whom the owner has let in is not in the settings. A bot whose account was removed keeps its
// rules until it ends, since those of the first account may be wider.
func (t Table) Follow(bot platform.Platform, next *config.Adapters, changed []string) ([]string, error) {
	service, known := t.Of(bot.Name())
	ruled, ok := bot.(platform.Ruled)
	if !known || !ok {
		return changed, nil
	}
	_, account, _ := strings.Cut(bot.Name(), "@")
	rules, ok := service.Rules(next, account)
	if !ok {
		return changed, nil
	}
	if err := ruled.SetRules(rules); err != nil {
		return changed, err
	}
	return slices.DeleteFunc(changed, func(key string) bool { return isRule(service.Name, key) }), nil
}

// isRule reports whether a key is about who may talk to the bots of a service. A new account has other keys, too.
func isRule(service, key string) bool {
	if !strings.HasPrefix(key, "adapters."+service+".") {
		return false
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	return last == "access" || last == "groups" || last == "addressed"
}
