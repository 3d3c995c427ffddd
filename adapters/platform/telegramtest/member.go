package telegramtest

import "maps"

// Member makes a person change the bot's membership of a group. With the status left or kicked it is removed, otherwise
// it is in the group. It returns the id of the update about this.
func (a *API) Member(chat int64, from map[string]any, status string) int64 {
	a.mu.Lock()
	c := a.chats[chat]
	was := c.member
	if was == "" {
		was = "left"
	}
	c.member, c.closed = status, nil
	in := status != "left" && status != "kicked"
	if !in {
		c.closed = &refused{code: 403, text: map[bool]string{true: "Forbidden: bot was kicked from the ", false: "Forbidden: bot is not a member of the "}[status == "kicked"] + c.Type + " chat"}
	}
	me := map[string]any{"id": BotID, "is_bot": true, "first_name": "Sample", "username": BotName}
	date := 1700000000 + a.nextID
	event := map[string]any{
		"chat": c.object(), "from": maps.Clone(from), "date": date,
		"old_chat_member": map[string]any{"user": me, "status": was}, "new_chat_member": map[string]any{"user": me, "status": status},
	}
	a.mu.Unlock()
	id := a.Inject("my_chat_member", event)
	if in && (was == "left" || was == "kicked") { // the service also sends a message about it
		a.Say(chat, 0, "", map[string]any{"from": maps.Clone(from), "text": nil, "date": date, "new_chat_members": []any{me}, "new_chat_member": me})
	}
	return id
}
