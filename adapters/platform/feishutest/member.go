package feishutest

import "net/http"

// SetName sets a person's name, by open id. By default people have no name.
func (a *API) SetName(id, name string) { a.mu.Do(func() { a.names[id] = name }) }

// readNames answers the names of at most ten people.
func (a *API) readNames(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	ids, _ := body["user_ids"].([]any)
	if r.URL.Query().Get("user_id_type") != "open_id" || len(ids) == 0 || len(ids) > 10 {
		return nil, feishuNo(99992402, "field validation failed")
	}
	users := []any{}
	for _, id := range ids {
		if id, _ := id.(string); a.names[id] != "" {
			users = append(users, map[string]any{"user_id": id, "name": a.names[id]})
		}
	}
	return map[string]any{"users": users}, nil
}

// Join makes somebody add the bot to a group with a name. It returns the id of the event.
func (a *API) Join(chat, by, name string) string {
	return a.member("im.chat.member.bot.added_v1", chat, by, name, true)
}

// Leave makes somebody remove the bot from a group. It returns the id of the event.
func (a *API) Leave(chat, by, name string) string {
	return a.member("im.chat.member.bot.deleted_v1", chat, by, name, false)
}

// Disband dissolves a group, which then has no members. It returns the id of the event.
func (a *API) Disband(chat, by, name string) string {
	return a.member("im.chat.disbanded_v1", chat, by, name, false)
}

func (a *API) member(kind, chat, by, name string, in bool) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chats[chat].member = in
	return a.inject(kind, map[string]any{
		"chat_id": chat, "operator_id": map[string]any{"open_id": by, "union_id": "on_1", "user_id": nil}, "external": false, "operator_tenant_key": "tenant",
		"name": name, "i18n_names": map[string]any{"zh_cn": name, "en_us": "", "ja_jp": ""},
	})
}
