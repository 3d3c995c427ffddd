package feishu

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Admins implements [platform.Administered]. It returns the owner of a group and its managers, by
// their open ids in this app, which messages also use for senders. The app needs the scope
// im:chat:readonly.
func (p *Platform) Admins(ctx context.Context, chat string) ([]string, error) {
	if !strings.HasPrefix(chat, "oc_") {
		return nil, nil // not an id of a chat
	}
	out, err := api.Get[struct {
		Mode      string   `json:"chat_mode"`
		Owner     string   `json:"owner_id"`
		OwnerKind string   `json:"owner_id_type"`
		Managers  []string `json:"user_manager_id_list"` // bots are in a list of their own
	}](ctx, p.client, "/open-apis/im/v1/chats/"+url.PathEscape(chat), url.Values{"user_id_type": {"open_id"}})
	if err != nil {
		return nil, fmt.Errorf("administrators of %s: %w", chat, err)
	}
	if messages.IsPrivate(out.Mode) {
		return nil, nil
	}
	list := out.Managers
	if out.OwnerKind == "open_id" {
		list = append(list, out.Owner)
	}
	own := ""
	if me := p.me.Load(); me != nil {
		own = me.OpenID
	}
	var ids []string
	for _, id := range list {
		if strings.HasPrefix(id, "ou_") && id != own {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
