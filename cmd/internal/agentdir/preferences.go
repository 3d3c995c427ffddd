package agentdir

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// preferencesFile is the name of the file in the folder of a chat.
const preferencesFile = "preferences.json"

// Preferences are the settings that people chose for their chats. They are stored in files and survive restarts. It
// is safe for concurrent use.
type Preferences struct {
	files persistence.FileStore
	log   *slog.Logger
	turn  sync.Mutex // held by whoever changes a file
}

// NewPreferences makes the preferences on top of the files of chats.
func NewPreferences(files persistence.FileStore, log *slog.Logger) *Preferences {
	return &Preferences{files: files, log: log}
}

// Title is the title that people gave to a chat, or "".
func (p *Preferences) Title(key messages.ChatKey) string { return p.of(key).Title }

// chatPreferences is the content of the file.
type chatPreferences struct {
	V        int    `json:"v"`
	Language string `json:"language,omitempty"` // en or zh; empty to follow what people write
	Title    string `json:"title,omitempty"`    // for lists; defaults to the beginning of the chat
	Paused   bool   `json:"paused,omitempty"`   // by an operator: no run starts
}

// of returns the preferences of a chat. An unreadable file counts as empty.
func (p *Preferences) of(key messages.ChatKey) chatPreferences {
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

// Language is the language that people chose for a chat, or "".
func (p *Preferences) Language(key messages.ChatKey) string {
	switch l := p.of(key).Language; l {
	case decision.LanguageEnglish, decision.LanguageChinese:
		return l
	}
	return ""
}

// SetLanguage stores the language that people chose.
func (p *Preferences) SetLanguage(key messages.ChatKey, language string) error {
	return p.change(key, func(set *chatPreferences) { set.Language = language })
}

// Paused reports whether an operator has paused a chat.
func (p *Preferences) Paused(key messages.ChatKey) bool { return p.of(key).Paused }

// SetPaused pauses a chat, or ends that.
func (p *Preferences) SetPaused(key messages.ChatKey, paused bool) error {
	return p.change(key, func(set *chatPreferences) { set.Paused = paused })
}

// SetTitle stores the title that people gave to a chat.
func (p *Preferences) SetTitle(key messages.ChatKey, title string) error {
	return p.change(key, func(set *chatPreferences) { set.Title = title })
}

func (p *Preferences) change(key messages.ChatKey, what func(*chatPreferences)) error {
	p.turn.Lock()
	defer p.turn.Unlock()
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
