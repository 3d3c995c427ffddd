package request

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// IsBusy reports whether an answer is in progress or pending.
func IsBusy(view platform.ChatView) bool { return view.Running || len(view.Waiting) > 0 }

// Index returns the position of the message with an id, or -1.
func Index(list []uimessage.Message, id string) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(list, func(m uimessage.Message) bool { return m.ID == id })
}
