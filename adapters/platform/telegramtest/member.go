package telegramtest

import "maps"

// Member makes the bot another kind of member of a group than before, by somebody: left and
// kicked take it out, all else lets it be there. It returns the id of the update that says so.
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
	if in && (was == "left" || was == "kicked") { // people see a line about it, and so does the bot
		a.Say(chat, 0, "", map[string]any{"from": maps.Clone(from), "text": nil, "date": date, "new_chat_members": []any{me}, "new_chat_member": me})
	}
	return id
}
