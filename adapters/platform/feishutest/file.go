package feishutest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// feishuHeldMost is the size limit for downloading a message's file.
const feishuHeldMost = 100 << 20

// feishuRaw is an answer whose body is a file.
type feishuRaw []byte

// heldAs returns the type parameter for downloading the file of a message.
func heldAs(kind string) string {
	if kind == "image" {
		return "image"
	}
	return "file"
}

// Forwarded is a message among others that somebody forwards together.
type Forwarded struct {
	From, Kind, Content string
}

// feishuScopes are the scopes that an app of this host asks for, with the calls that
// need one of several.
func feishuScopes() []string {
	return []string{
		"im:message", "im:message.p2p_msg:readonly", "im:message.group_at_msg:readonly", "im:message:send_as_bot", "im:resource", "cardkit:card:write", "cardkit:card:read", "im:chat:readonly",
		"im:message.group_msg", "contact:user.basic_profile:readonly",
	}
}

func violations(scopes []string) []any {
	var out []any
	for _, s := range scopes {
		out = append(out, map[string]any{"type": "action_scope_required", "subject": s})
	}
	return out
}

// SayFile makes somebody send a file: kind is image, file, audio or media. Members of
// more are set in the content. It returns the message's id.
func (a *API) SayFile(chat, from, kind, name string, data []byte, more map[string]any) string {
	a.mu.Lock()
	key, member := a.newID("file_v3_"), "file_key"
	if kind == "image" {
		key, member = a.newID("img_v3_"), "image_key"
	}
	a.mu.Unlock()
	content := map[string]any{member: key}
	if kind != "image" {
		content["file_name"] = name
	}
	maps.Copy(content, more)
	raw, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("tests send what JSON can hold: %v", err))
	}
	return a.sayHolding(chat, from, map[string]any{"message_type": kind, "content": string(raw)}, map[string][]byte{heldAs(kind) + "/" + key: data})
}

// SayPost makes somebody send rich text with images, to which content refers as {image 0}, {image 1} and so on.
func (a *API) SayPost(chat, from, content string, images [][]byte, more map[string]any) string {
	hold := map[string][]byte{}
	for i, data := range images {
		a.mu.Lock()
		key := a.newID("img_v3_")
		a.mu.Unlock()
		content = strings.ReplaceAll(content, "{image "+strconv.Itoa(i)+"}", key)
		hold["image/"+key] = data
	}
	all := map[string]any{"message_type": "post", "content": content}
	maps.Copy(all, more)
	return a.sayHolding(chat, from, all, hold)
}

// sayHolding stores the files before the event announces the message.
func (a *API) sayHolding(chat, from string, more map[string]any, hold map[string][]byte) string {
	a.mu.Lock()
	id := a.newID("om_u")
	for at, data := range hold {
		a.held[id+"/"+at] = data
	}
	a.mu.Unlock()
	more["message_id"] = id
	return a.Say(chat, from, "", more)
}

// SayForwarded makes somebody forward messages together.
func (a *API) SayForwarded(chat, from string, messages []Forwarded, more map[string]any) string {
	all := map[string]any{"message_type": "merge_forward", "content": "Merged and Forwarded Message"}
	maps.Copy(all, more)
	a.mu.Lock()
	id := a.newID("om_u")
	for i, m := range messages {
		a.forwards[id] = append(a.forwards[id], &Message{
			ID: id + "c" + strconv.Itoa(i), Chat: "oc_elsewhere", Kind: m.Kind, Content: m.Content, from: m.From, made: a.now(),
		})
	}
	a.mu.Unlock()
	all["message_id"] = id
	return a.Say(chat, from, "", all)
}

// Recall makes somebody recall a message; by is message_owner, group_owner, group_manager or enterprise_manager.
func (a *API) Recall(chat, message, by string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.messages[message]; m != nil {
		m.deleted = true
	}
	return a.inject("im.message.recalled_v1", map[string]any{
		"message_id": message, "chat_id": chat, "recall_time": strconv.FormatInt(a.now().UnixMilli(), 10), "recall_type": by,
	})
}

// readResource returns the file of a message, if key, message and type match.
func (a *API) readResource(r *http.Request, _ map[string]any) (any, *feishuRefusal) {
	m, kind := a.messages[r.PathValue("id")], r.URL.Query().Get("type")
	switch {
	case kind != "image" && kind != "file":
		return nil, feishuNo(234001, "Invalid request param.")
	case m == nil:
		return nil, feishuNo(234001, "Invalid request param: message_id.")
	case m.deleted:
		return nil, feishuNo(234007, "The message was recalled.")
	case m.Kind == "merge_forward" || m.Kind == "interactive":
		return nil, feishuNo(234043, "Unsupported message type.")
	case m.Kind == "sticker":
		return nil, feishuNo(234043, "Unsupported message type: sticker.")
	}
	data, ok := a.held[m.ID+"/"+kind+"/"+r.PathValue("key")]
	switch {
	case !ok:
		return nil, feishuNo(234003, "File not in msg.")
	case len(data) > feishuHeldMost:
		return nil, feishuNo(234037, "Downloaded file size exceeds limit.")
	}
	return feishuRaw(data), nil
}

// Withhold revokes scopes of the app, or grants them again.
func (a *API) Withhold(withheld bool, scopes ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range scopes {
		a.refused[s] = withheld
	}
}

// listScopes lists the scopes of the app.
func (a *API) listScopes(*http.Request, map[string]any) (any, *feishuRefusal) {
	var out []any
	for _, s := range feishuScopes() {
		status := 1
		if a.refused[s] {
			status = 2
		}
		out = append(out, map[string]any{"scope_name": s, "grant_status": status, "scope_type": "tenant"})
	}
	return map[string]any{"scopes": out}, nil
}

// checkScope refuses a call for which the app has none of the scopes.
func (a *API) checkScope(r *http.Request) *feishuRefusal {
	var anyOf []string
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/open-apis/contact/"):
		anyOf = []string{"contact:user.basic_profile:readonly"}
	case strings.HasSuffix(path, "/id_convert"):
		anyOf = []string{"cardkit:card:read"}
	case strings.HasPrefix(path, "/open-apis/cardkit/"):
		anyOf = []string{"cardkit:card:write"}
	case r.Method == http.MethodPost && (strings.HasSuffix(path, "/images") || strings.HasSuffix(path, "/files")):
		anyOf = []string{"im:resource"}
	case strings.Contains(path, "/resources/"):
		anyOf = []string{"im:message", "im:message:readonly"}
	case r.Method == http.MethodPost && strings.Contains(path, "/im/v1/messages"):
		anyOf = []string{"im:message", "im:message:send_as_bot"}
	case strings.Contains(path, "/im/v1/messages"):
		anyOf = []string{"im:message", "im:message:readonly"}
	}
	if len(anyOf) == 0 || slices.ContainsFunc(anyOf, func(s string) bool { return slices.Contains(feishuScopes(), s) && !a.refused[s] }) {
		return nil
	}
	return &feishuRefusal{
		status: http.StatusBadRequest, code: 99991672, scopes: anyOf,
		text: "Access denied. One of the following scopes is required: [" + strings.Join(anyOf, ", ") + "].",
	}
}

// HeldKey is the key of the file of a message.
func (a *API) HeldKey(message string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for at := range a.held {
		if rest, ok := strings.CutPrefix(at, message+"/"); ok {
			_, key, _ := strings.Cut(rest, "/")
			return key
		}
	}
	return ""
}

// SayNothing stores a person's message without an event, and returns its id.
func (a *API) SayNothing(chat string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := &Message{ID: a.newID("om_u"), Chat: chat, Kind: "text", Content: `{"text":"before"}`, from: "ou_before", made: a.now()}
	a.messages[m.ID] = m
	return m.ID
}
