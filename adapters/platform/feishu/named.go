package feishu

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// Bot implements [platform.Named]. The link is the service's own for opening a chat with the bot of
// an app; it is empty on other servers.
func (p *Platform) Bot() (name, link string) {
	me := p.me.Load()
	if me == nil {
		return "", ""
	}
	open, isService := strings.CutPrefix(p.opts.BaseURL, "https://open.")
	if isService && (open == "feishu.cn" || open == "larksuite.com") {
		link = "https://applink." + open + "/client/bot/open?appId=" + url.QueryEscape(p.opts.AppID)
	}
	return botkit.Tidy(me.Name, botkit.MaxName), link
}

// person returns somebody who acted, with their name if the service gives it, else with their id.
func (p *Platform) person(ctx context.Context, id string) platform.Person {
	return platform.Person{ID: id, Name: cmp.Or(p.names.Of(ctx, id), botkit.Tidy(id, botkit.MaxName))}
}

// askName requests the name of a person. This request needs no access to the contacts of the
// organisation, and also serves people of other organisations.
func (p *Platform) askName(ctx context.Context, id string) (string, error) {
	got, err := api.Post[struct {
		Users []struct {
			ID   string `json:"user_id"`
			Name string `json:"name"`
		} `json:"users"`
	}](ctx, p.client, http.MethodPost, "/open-apis/contact/v3/users/basic_batch", url.Values{"user_id_type": {"open_id"}}, object{"user_ids": []string{id}})
	for _, u := range got.Users {
		if u.ID == id {
			return u.Name, err
		}
	}
	return "", err
}
