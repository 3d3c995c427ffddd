package console

import (
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Names reads the names of the project's chats.
func (a *Console) Names() query.Names {
	_, state, err := a.Folders(nil)
	if err != nil {
		return query.Names{}
	}
	return query.NewNames(state)
}

// Named is the key of a chat and its name, if it has one.
func Named(key messages.ChatKey, name string) string {
	if name == "" {
		return string(key)
	}
	return string(key) + " (" + name + ")"
}
