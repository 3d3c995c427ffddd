package platform

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/messages"
)

// BotOptions are the options that the bots of all services share. Zero values mean the defaults.
type BotOptions struct {
	// Account distinguishes several bots of one host. It is empty if there is only one.
	Account string
	// BaseURL is the root of the service's API.
	BaseURL string
	// Access is one of the Access constants.
	Access string
	// Egress is tool (the default) or direct.
	Egress string
	// Drafts is how unfinished texts are shown; the values are those of the service.
	Drafts string
	// Commands are the names of the host's commands, without the slash; other words with a slash
	// are text.
	Commands []string
	// HTTPClient replaces the transport of calls. Redirects are never followed.
	HTTPClient *http.Client
	Logger     *slog.Logger
	Registry   prometheus.Registerer
	// AccessStore is required unless Access is open.
	AccessStore AccessStore
	// Language returns the language chosen for a chat, for the answers to commands: en, zh, or
	// empty if none was chosen. Nil means that no language was chosen anywhere.
	Language func(messages.ChatKey) string
	// Decide submits the decisions that people make by buttons to the core. If nil, there are no
	// buttons.
	Decide Decide
	// StateDir is a folder for this bot alone, created when needed. It stores messages that their
	// chats do not accept. If empty, they block later ones, or the service has to redeliver them.
	StateDir string
	Now      func() time.Time
}

// Name returns the name of a bot of a service.
func (o BotOptions) Name(service string) string {
	if o.Account == "" {
		return service
	}
	return service + "@" + o.Account
}

// Root returns the parsed BaseURL.
func (o BotOptions) Root() (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(o.BaseURL, "/"))
	if err != nil || base.Host == "" {
		return nil, errors.New("the base URL is not a URL")
	}
	return base, nil
}

// WithDefaults fills in what is not set; those for the address and the drafts are the service's.
func (o BotOptions) WithDefaults(baseURL, drafts string) BotOptions {
	o.BaseURL, o.Access, o.Drafts = cmp.Or(o.BaseURL, baseURL), cmp.Or(o.Access, AccessPaired), cmp.Or(o.Drafts, drafts)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Language == nil {
		o.Language = func(messages.ChatKey) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
