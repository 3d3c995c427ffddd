package telegramtest

import "github.com/shipmyagent/shipmyagent/messages"

// Admin is somebody who administers a group.
type Admin struct {
	ID        int64
	Owner     bool
	Bot       bool
	Anonymous bool
}

// SetAdmins sets the administrators of a group.
func (a *API) SetAdmins(chat int64, admins ...Admin) {
	a.mu.Do(func() { a.chats[chat].admins = admins })
}

// administrators answers getChatAdministrators, with the bot among them.
func (a *API) administrators(p Params) (any, *refused) {
	c, no := a.chatFor(p)
	switch {
	case no != nil:
		return nil, no
	case c.Type == messages.ChatPrivate:
		return nil, badRequest("there are no administrators in the private chat")
	}
	out := []any{map[string]any{"status": "administrator", "user": map[string]any{"id": BotID, "is_bot": true, "first_name": "Sample"}, "is_anonymous": false}}
	for _, m := range c.admins {
		user := User(m.ID, "Ann")
		user["is_bot"] = m.Bot
		status := "administrator"
		if m.Owner {
			status = "creator"
		}
		out = append(out, map[string]any{"status": status, "user": user, "is_anonymous": m.Anonymous})
	}
	return out, nil
}
