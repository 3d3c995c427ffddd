package host

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// preferencesFile is beside the chat's messages.
const preferencesFile = "preferences.json"

// preferences are what people set for their chats. They are in files, so that they
// hold after a restart; it is safe for concurrent use.
type preferences struct {
	files persistence.FileStore
	log   *slog.Logger
}

// chatPreferences is what a file holds.
type chatPreferences struct {
	V        int    `json:"v"`
	Language string `json:"language,omitempty"` // en or zh; empty: as people write
	Title    string `json:"title,omitempty"`    // for lists; empty: what the chat begins with
}

// of are the preferences of a chat. A file that cannot be read holds none.
func (p *preferences) of(key messages.ChatKey) chatPreferences {
	var out chatPreferences
	data, err := p.files.ReadFile(context.Background(), key, preferencesFile)
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		p.log.Warn("the preferences of a chat cannot be read", "chat_key", string(key), "error", err)
		return chatPreferences{}
	}
	return out
}

// language is what people chose for a chat; empty: nothing.
func (p *preferences) language(key messages.ChatKey) string {
	switch l := p.of(key).Language; l {
	case machine.LanguageEnglish, machine.LanguageChinese:
		return l
	}
	return ""
}

// setLanguage keeps what people chose.
func (p *preferences) setLanguage(key messages.ChatKey, language string) error {
	return p.change(key, func(set *chatPreferences) { set.Language = language })
}

// setTitle keeps the title that people gave a chat.
func (p *preferences) setTitle(key messages.ChatKey, title string) error {
	return p.change(key, func(set *chatPreferences) { set.Title = title })
}

func (p *preferences) change(key messages.ChatKey, what func(*chatPreferences)) error {
	set := p.of(key)
	set.V = 1
	what(&set)
	var data []byte
	if set != (chatPreferences{V: 1}) {
		var err error
		if data, err = json.Marshal(set); err != nil {
			return err // Unreachable: it encodes
		}
	}
	return p.files.WriteFile(context.Background(), key, preferencesFile, data)
}
