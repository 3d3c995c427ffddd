package console

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
)

// maxName is how much of a name is shown.
const maxName = 48

// Names are what people call chats, read from a state folder. Reading never fails: what cannot be read has no name.
type Names struct {
	state  string
	people *access.Store // nil if no person or group has been let in
}

// Names reads the names of the project's chats.
func (a *Console) Names() Names {
	_, state, err := a.Folders(nil)
	if err != nil {
		return Names{}
	}
	n, path := Names{state: state}, filepath.Join(state, "access.json")
	if !missing(path) { // opening would create its folder
		n.people, _ = access.Open(path, access.Options{}) // without it, chats have no names
	}
	return n
}

// Of is the title that people gave to a chat, else the title of its group or the name of its person. It is one short
// line without control characters, or empty if the chat has no name.
func (n Names) Of(key messages.ChatKey) string {
	return checkup.OneLine(cmp.Or(n.title(key), n.known(key)), maxName)
}

func (n Names) title(key messages.ChatKey) string {
	folder, err := chatpath.Encode(key)
	if n.state == "" || err != nil {
		return ""
	}
	var preferences struct{ Title string }
	text, err := os.ReadFile(filepath.Join(n.state, "chat", filepath.FromSlash(folder), "preferences.json"))
	if err != nil || json.Unmarshal(text, &preferences) != nil {
		return ""
	}
	return preferences.Title
}

// known is the name under which a group or a person was let in.
func (n Names) known(key messages.ChatKey) string {
	addr, ok := key.Address()
	if !ok || n.people == nil {
		return ""
	}
	account := n.people.Account(query.BotOf(key))
	for _, g := range account.Groups {
		if g.ID == addr.Chat {
			return g.Title
		}
	}
	for _, p := range account.Private {
		if p.Chat == addr.Chat {
			return p.Name
		}
	}
	for _, p := range account.People {
		if p.ID == addr.Chat {
			return p.Name
		}
	}
	if o := account.Owner; o != nil && o.ID == addr.Chat {
		return o.Name
	}
	return ""
}

// Named is the key of a chat and its name, if it has one.
func Named(key messages.ChatKey, name string) string {
	if name == "" {
		return string(key)
	}
	return string(key) + " (" + name + ")"
}
