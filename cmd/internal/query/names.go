package query

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
)

// maxName is how much of a name is shown.
const maxName = 48

// Names are what people call chats, read from a state folder. Reading never fails: what cannot be read has no name.
// They are for one goroutine.
type Names struct {
	state  string
	people *access.Store                // nil if no person or group has been let in
	bots   map[string]map[string]string // the names by the chats' ids, of each bot that was asked about
}

// NewNames reads the names of the chats in a state folder.
func NewNames(state string) Names {
	n, path := Names{state: state, bots: map[string]map[string]string{}}, filepath.Join(state, "access.json")
	if _, err := os.Stat(path); err == nil { // opening would create its folder
		n.people, _ = access.Open(path, access.Options{}) // without it, chats have no names
	}
	return n
}

// Of is the title that people gave to a chat, else the title of its group or the name of its person. It is one short
// line without control characters, or empty if the chat has no name.
func (n Names) Of(key messages.ChatKey) string {
	name, _ := n.look(key)
	return name
}

// look is the name of a chat, and whether an operator has paused it: one file has both.
func (n Names) look(key messages.ChatKey) (name string, paused bool) {
	kept := preferencesOf(n.state, key)
	return checkup.OneLine(cmp.Or(kept.Title, n.known(key)), maxName), kept.Paused
}

// Paused reports whether an operator has paused a chat. Without its file, it is not.
func Paused(state string, key messages.ChatKey) bool { return preferencesOf(state, key).Paused }

// preferences are what a list shows of the preferences of a chat.
type preferences struct {
	Title  string
	Paused bool
}

// preferencesOf reads the preferences of a chat. Those that cannot be read are empty.
func preferencesOf(state string, key messages.ChatKey) (out preferences) {
	folder, err := chatpath.Encode(key)
	if state == "" || err != nil {
		return out
	}
	text, err := os.ReadFile(filepath.Join(state, "chat", filepath.FromSlash(folder), "preferences.json"))
	if err != nil || json.Unmarshal(text, &out) != nil {
		return preferences{}
	}
	return out
}

// known is the name under which a group or a person was let in.
func (n Names) known(key messages.ChatKey) string {
	addr, ok := key.Address()
	if !ok || n.people == nil {
		return ""
	}
	bot := BotOf(key)
	if n.bots[bot] == nil {
		n.bots[bot] = namesOf(n.people.Account(bot))
	}
	return n.bots[bot][addr.Chat]
}

// namesOf are the names of the chats with those who were let in, by the chats' ids.
func namesOf(account access.Account) map[string]string {
	names := map[string]string{}
	if o := account.Owner; o != nil {
		names[o.ID] = o.Name
	}
	for _, p := range account.People {
		names[p.ID] = p.Name
	}
	for _, p := range account.Private {
		names[p.Chat] = p.Name
	}
	for _, g := range account.Groups {
		names[g.ID] = g.Title
	}
	return names
}
