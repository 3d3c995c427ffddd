package feishutest

import (
	"net/http"

	"github.com/shipmyagent/shipmyagent/messages"
)

// SetAdmins sets the owner and the managers of a group, by open ids. A group without an owner belongs to a bot, which
// the service reports in the same way.
func (a *API) SetAdmins(chat, owner string, managers ...string) {
	a.mu.Do(func() { a.chats[chat].owner, a.chats[chat].managers = owner, managers })
}

func (a *API) readChat(r *http.Request, _ map[string]any) (any, *feishuRefusal) {
	c := a.chats[r.PathValue("id")]
	switch {
	case r.URL.Query().Get("user_id_type") != "open_id":
		return nil, feishuNo(99992402, "field validation failed")
	case c == nil:
		return nil, feishuNo(232006, "Your request specifies a chat_id which is invalid.")
	case !c.member:
		return nil, feishuNo(232011, "Operator can NOT be out of the chat.")
	}
	mode := map[string]string{messages.ChatTopicGroup: "topic"}[c.kind]
	if mode == "" {
		mode = c.kind
	}
	out := map[string]any{"name": "Friends", "chat_mode": mode, "user_manager_id_list": append([]string{}, c.managers...), "bot_manager_id_list": []string{Bot}}
	if c.owner != "" {
		out["owner_id"], out["owner_id_type"] = c.owner, "open_id"
	}
	return out, nil
}
