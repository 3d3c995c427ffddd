package host

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence/tokenfile"
)

// LoginBy says how people get into the web page.
type LoginBy string

// The ways into the web page.
const (
	LoginOff     LoginBy = "off"     // there is no page
	LoginOpen    LoginBy = "open"    // everybody on this machine, in the demonstration
	LoginSetting LoginBy = "setting" // with the token of adapters.web.token
	LoginFile    LoginBy = "file"    // with the token that the host made
)

// login is what the web page asks of people.
type login struct {
	by    LoginBy
	token config.Secret // what they show; empty unless by is setting or file
	kept  config.Secret // what the file holds, also when this start does not use it
}

// TokenFile is where a host keeps the token that it made for its web page.
func TokenFile(state string) *tokenfile.File { return tokenfile.In(state) }

// readLogin decides what the web page asks for, and makes a token if there is none. It
// runs after the state folder was locked, so one process at a time makes one.
func (h *Host) readLogin(context.Context) error {
	s, file := h.opts.Settings.Settings.Adapters.Web, TokenFile(h.opts.State)
	// A token of an earlier start is a secret also while it is of no use.
	if kept, err := file.Read(); err == nil {
		h.login.kept = config.NewSecret(kept)
	}
	switch {
	case !s.Enabled || len(h.opts.Only) > 0 && !slices.Contains(h.opts.Only, nameWeb):
		h.login.by = LoginOff
	case !s.Token.IsZero():
		h.login.by, h.login.token = LoginSetting, s.Token
	case h.opts.Open:
		h.login.by = LoginOpen
	default:
		token, err := file.Open()
		if err != nil {
			return &Failure{
				Kind: KindConfig, What: "the token of the web page cannot be used", Why: err,
				Help: fmt.Sprintf("remove %s, and the next start makes a new token; or set adapters.web.token", file.Path()),
			}
		}
		h.login = login{by: LoginFile, token: config.NewSecret(token), kept: config.NewSecret(token)}
	}
	return nil
}

// loginLink is the address that logs a browser in; empty: none is needed, or the
// operator chose the token and knows it.
func (h *Host) loginLink() config.Secret {
	if h.login.by != LoginFile {
		return config.Secret{}
	}
	return config.NewSecret(web.LoginLink(h.webAddr, h.login.token.Reveal()))
}

// LoginDocument says where the web page is and what it asks for. The token itself goes
// through no connection: whoever may have it can read its file.
type LoginDocument struct {
	By   LoginBy `json:"by"`
	Page string  `json:"page,omitempty"`
}

func (c *control) login(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, LoginDocument{By: c.host.login.by, Page: c.host.webAddr})
}
