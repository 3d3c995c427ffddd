package feishutest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// feishuPost is the longest request with a rich text or a card, feishuText with a text, in bytes.
	feishuPost = 30 << 10
	feishuText = 150 << 10
	// feishuUUIDLife is how long a uuid keeps a message from being sent twice.
	feishuUUIDLife = time.Hour
)

// tooLong refuses a message by the length of its whole request, as it was sent.
func tooLong(r *http.Request, body map[string]any) *feishuRefusal {
	limit := int64(feishuPost)
	if body["msg_type"] == "text" {
		limit = feishuText
	}
	if r.ContentLength > limit {
		return feishuNo(230025, "The length of the message content reaches its limit.")
	}
	return nil
}

// readPost is as strict as the service about rich text: languages, lines, and
// elements that it knows with members that they have.
func readPost(c map[string]any) (string, *feishuRefusal) {
	bad := func(why string) (string, *feishuRefusal) {
		return "", feishuNo(230001, "Your request contains an invalid request parameter, ext=invalid message content: "+why)
	}
	if len(c) == 0 {
		return bad("no language")
	}
	var lines []string
	for lang, v := range c {
		post, ok := v.(map[string]any)
		rows, ok2 := post["content"].([]any)
		if !slices.Contains([]string{"zh_cn", "en_us", "ja_jp"}, lang) || !ok || !ok2 || len(rows) == 0 {
			return bad(lang)
		}
		for _, row := range rows {
			elements, ok := row.([]any)
			if !ok || len(elements) == 0 {
				return bad("a line is empty")
			}
			var line strings.Builder
			for _, e := range elements {
				m, _ := e.(map[string]any)
				text, ok := postElement(m)
				if !ok {
					return bad("element " + strconv.Quote(stringOf(m["tag"])))
				}
				line.WriteString(text)
			}
			lines = append(lines, line.String())
		}
	}
	return strings.Join(lines, "\n"), nil
}

func stringOf(v any) string {
	s, _ := v.(string)
	return s
}

func postElement(m map[string]any) (string, bool) {
	allowed := map[string][]string{
		"text": {"text", "style", "un_escape"}, "a": {"text", "href", "style"}, "at": {"user_id", "style"}, "code_block": {"text", "language"},
		"hr": {}, "md": {"text"}, "img": {"image_key"}, "emotion": {"emoji_type"},
	}
	tag := stringOf(m["tag"])
	members, known := allowed[tag]
	for k := range m {
		known = known && (k == "tag" || slices.Contains(members, k))
	}
	if styles, given := m["style"]; given {
		list, ok := styles.([]any)
		known = known && ok
		for _, s := range list {
			known = known && slices.Contains([]string{"bold", "italic", "underline", "lineThrough"}, stringOf(s))
		}
	}
	text, isText := m["text"].(string)
	switch tag {
	case "text", "md", "code_block":
		return text, known && isText
	case "a":
		href := stringOf(m["href"])
		return text, known && isText && (strings.HasPrefix(href, "http://") || strings.HasPrefix(href, "https://"))
	case "at":
		return "@" + stringOf(m["user_id"]), known && stringOf(m["user_id"]) != ""
	}
	return "", known
}

func (a *API) createMessage(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	if r.URL.Query().Get("receive_id_type") != "chat_id" {
		return nil, feishuNo(99992402, "field validation failed")
	}
	id, _ := body["receive_id"].(string)
	if no := tooLong(r, body); no != nil {
		return nil, no
	}
	return a.newMessage(a.chats[id], body, "", false)
}

func (a *API) replyMessage(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	m := a.messages[r.PathValue("id")]
	if m == nil {
		return nil, feishuNo(230001, "Your request contains an invalid request parameter, ext=Invalid ids: ["+r.PathValue("id")+"].")
	}
	if m.deleted {
		return nil, feishuNo(230011, "The message was recalled.")
	}
	if no := tooLong(r, body); no != nil {
		return nil, no
	}
	thread, _ := body["reply_in_thread"].(bool)
	return a.newMessage(a.chats[m.Chat], body, m.ID, thread)
}

func (a *API) newMessage(c *feishuChat, body map[string]any, parent string, thread bool) (any, *feishuRefusal) {
	kind, _ := body["msg_type"].(string)
	content, isText := body["content"].(string)
	uuid, _ := body["uuid"].(string)
	switch {
	case c == nil:
		return nil, feishuNo(230001, "Your request contains an invalid request parameter, ext=invalid receive_id.")
	case !c.member:
		return nil, feishuNo(230002, "Bot/User can NOT be out of the chat.")
	case !isText:
		return nil, feishuNo(9499, "Invalid parameter type in json: content")
	case len(uuid) > 50:
		return nil, feishuNo(99992402, "field validation failed")
	}
	shown, no := a.content(kind, content)
	if no != nil {
		return nil, no
	}
	if use, ok := a.uuids[c.id+" "+uuid]; ok && uuid != "" && a.now().Sub(use.at) < feishuUUIDLife {
		return a.messages[use.message].object(), nil
	}
	m := &Message{ID: a.newID("om_x"), Chat: c.id, Kind: kind, Content: content, Text: shown, Parent: parent, ours: true, made: a.sent()}
	if parent == "" && c.kind == messages.ChatTopicGroup { // it starts a new topic
		m.Thread = a.newID("omt_")
	}
	if parent != "" {
		m.Thread = a.messages[parent].Thread
	}
	if thread && m.Thread == "" {
		m.Thread = a.newID("omt_")
		a.messages[parent].Thread = m.Thread
	}
	if no := a.attachCard(m); no != nil {
		return nil, no
	}
	a.messages[m.ID] = m
	c.sent = append(c.sent, m)
	if uuid != "" {
		a.uuids[c.id+" "+uuid] = feishuUse{m.ID, a.now()}
	}
	return m.object(), nil
}

func (m *Message) object() map[string]any {
	sender := map[string]any{"id": m.from, "id_type": "open_id", "sender_type": "user"}
	if m.ours {
		sender = map[string]any{"id": App, "id_type": "app_id", "sender_type": "app"}
	}
	return map[string]any{
		"message_id": m.ID, "parent_id": m.Parent, "thread_id": m.Thread, "msg_type": m.Kind, "chat_id": m.Chat,
		"create_time": strconv.FormatInt(m.made.UnixMilli(), 10), "deleted": m.deleted, "sender": sender, "body": map[string]any{"content": m.Content},
	}
}

func (a *API) readMessage(r *http.Request, _ map[string]any) (any, *feishuRefusal) {
	m := a.messages[r.PathValue("id")]
	switch {
	case m == nil:
		return nil, feishuNo(230001, "Your request contains an invalid request parameter, ext=Invalid ids.")
	case m.deleted:
		return nil, feishuNo(230110, "Action unavailable as the message has been deleted.")
	}
	items := []any{m.object()}
	for _, c := range m.children { // forwarded messages follow the one that contains them
		child := c.object()
		child["upper_message_id"] = m.ID
		items = append(items, child)
	}
	return map[string]any{"items": items}, nil
}

// deleteMessage recalls a message of the bot.
func (a *API) deleteMessage(r *http.Request, _ map[string]any) (any, *feishuRefusal) {
	m := a.messages[r.PathValue("id")]
	switch {
	case m == nil:
		return nil, feishuNo(230001, "Your request contains an invalid request parameter, ext=Invalid ids.")
	case !m.ours:
		return nil, feishuNo(230026, "No permission to recall this message.")
	}
	m.deleted = true
	return map[string]any{}, nil
}

func (a *API) patchMessage(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	m := a.messages[r.PathValue("id")]
	content, _ := body["content"].(string)
	switch {
	case m == nil || !m.ours:
		return nil, feishuNo(230001, "Your request contains an invalid request parameter, ext=Invalid ids.")
	case m.Kind != "interactive":
		return nil, feishuNo(230001, "Your request contains an invalid request parameter, ext=This message is NOT a card.")
	}
	shown, no := a.content("interactive", content)
	if no != nil {
		return nil, no
	}
	m.Content, m.Text = content, shown
	return map[string]any{}, nil
}

// content checks the content of a message and returns what people see of it.
func (a *API) content(kind, content string) (string, *feishuRefusal) {
	bad := feishuNo(230001, "Your request contains an invalid request parameter, ext=invalid message content.")
	var c map[string]any
	if json.Unmarshal([]byte(content), &c) != nil {
		return "", bad
	}
	switch kind {
	case "text":
		text, _ := c["text"].(string)
		if text == "" {
			return "", bad
		}
		return text, nil
	case "post":
		return readPost(c)
	case "image", "file", "audio", "media":
		key, _ := c["file_key"].(string)
		if kind == "image" {
			key, _ = c["image_key"].(string)
		}
		if !a.files[key] {
			return "", feishuNo(230055, "The type of file upload does not match the type of message being sent, or the key is not known.")
		}
		return "[" + kind + "]", nil
	case "interactive":
		return a.readCard(c)
	}
	return "", feishuNo(230001, "Your request contains an invalid request parameter, ext=Invalid msg_type.")
}

func (a *API) uploadImage(_ *http.Request, body map[string]any) (any, *feishuRefusal) {
	size, ok := body["image"].(float64)
	switch {
	case !ok || body["image_type"] != "message":
		return nil, feishuNo(234001, "Invalid request param.")
	case size == 0:
		return nil, feishuNo(234010, "File's size can't be 0.")
	case size > 10<<20:
		return nil, feishuNo(234006, "The file size exceed the max value.")
	}
	key := a.newID("img_v3_")
	a.files[key] = true
	return map[string]any{"image_key": key}, nil
}

func (a *API) uploadFile(_ *http.Request, body map[string]any) (any, *feishuRefusal) {
	size, ok := body["file"].(float64)
	kinds := []string{"opus", "mp4", "pdf", "doc", "xls", "ppt", "stream"}
	switch {
	case !ok || !slices.Contains(kinds, stringOf(body["file_type"])) || stringOf(body["file_name"]) == "":
		return nil, feishuNo(234001, "Invalid request param.")
	case size == 0:
		return nil, feishuNo(234010, "File's size can't be 0.")
	case size > 30<<20:
		return nil, &feishuRefusal{status: http.StatusBadRequest, code: 234006, text: "The file size exceed the max value."}
	}
	key := a.newID("file_v3_")
	a.files[key] = true
	return map[string]any{"file_key": key}, nil
}
