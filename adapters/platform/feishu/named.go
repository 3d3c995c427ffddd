package feishu

import (
	"net/url"
	"strings"
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
	return me.Name, link
}
