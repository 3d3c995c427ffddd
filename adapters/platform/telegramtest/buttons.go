package telegramtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

const (
	maxButton = 64  // the longest data of a button, in bytes
	maxToast  = 200 // the longest answer to a press, in characters
)

// readButtons reads the inline keyboard of a call, if it has one.
func readButtons(p Params) ([][]string, *refused) {
	if p.Text("reply_markup") == "" {
		return nil, nil
	}
	var k struct {
		Rows [][]struct {
			Text string `json:"text"`
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	}
	if json.Unmarshal([]byte(p.Text("reply_markup")), &k) != nil {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	var rows [][]string
	for _, row := range k.Rows {
		var out []string
		for _, b := range row {
			switch {
			case b.Text == "":
				return nil, badRequest("inline keyboard button text is empty")
			case b.Data == "" || len(b.Data) > maxButton:
				return nil, badRequest("BUTTON_DATA_INVALID")
			}
			out = append(out, b.Text, b.Data)
		}
		rows = append(rows, out)
	}
	return rows, nil
}

func (a *API) editButtons(p Params) (any, *refused) {
	c, no := a.chatFor(p)
	if no != nil {
		return nil, no
	}
	buttons, no := readButtons(p)
	if no != nil {
		return nil, no
	}
	m, no := c.mine(p.Int("message_id"))
	switch {
	case no != nil:
		return nil, no
	case slices.EqualFunc(m.Buttons, buttons, slices.Equal):
		return nil, notModified()
	}
	m.Buttons = buttons
	return map[string]any{"message_id": m.ID, "date": 1, "chat": c.object(), "text": m.Text}, nil
}

// answerPress accepts one answer to each press. It is called with the lock held.
func (a *API) answerPress(p Params) (any, *refused) {
	switch id := p.Text("callback_query_id"); {
	case !a.pressed[id]:
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	case utf8.RuneCountInString(p.Text("text")) > maxToast:
		return nil, badRequest("MESSAGE_TOO_LONG")
	default:
		delete(a.pressed, id)
		return true, nil
	}
}

// Press makes somebody press a button, known by its data, below a message of the bot.
// Members of more are set in the update, or removed when nil.
func (a *API) Press(chat, from, message int64, data string, more map[string]any) int64 {
	a.mu.Lock()
	c := a.chats[chat]
	m := map[string]any{"message_id": message, "date": 1700000000, "chat": c.object()}
	for _, s := range c.sent {
		if s.ID != message {
			continue
		}
		if s.Topic != 0 {
			m["message_thread_id"], m["is_topic_message"] = s.Topic, true
		}
		var rows [][]map[string]any
		for _, row := range s.Buttons {
			var out []map[string]any
			for i := 0; i+1 < len(row); i += 2 {
				out = append(out, map[string]any{"text": row[i], "callback_data": row[i+1]})
			}
			rows = append(rows, out)
		}
		m["reply_markup"] = map[string]any{"inline_keyboard": rows}
	}
	a.nextMsg++
	id := strconv.FormatInt(a.nextMsg<<32, 10)
	a.pressed[id] = true
	press := map[string]any{"id": id, "from": User(from, "Ann"), "message": m, "chat_instance": "1", "data": data}
	a.mu.Unlock()
	for name, v := range more {
		if press[name] = v; v == nil {
			delete(press, name)
		}
	}
	return a.Inject("callback_query", press)
}
