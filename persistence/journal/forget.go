package journal

import (
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Forgetting is the intent to delete all that is kept of a chat. It is durable before
// anything is deleted, so that a crash in the middle of it is made up for; it holds nothing
// that anybody said.
type Forgetting struct {
	Version int              `json:"v"`
	ChatKey messages.ChatKey `json:"chatKey"`
	At      time.Time        `json:"at"`
	By      string           `json:"by,omitempty"`
	// Keep is what the chat goes on with: the ids and numbers of what it has handled, the
	// private chats that still show its requests, and its messages that still have buttons.
	Keep Meta `json:"keep"`
	// Users are the people whose own memory goes with the chat, since it was theirs alone.
	Users []string `json:"users,omitempty"`
}

// Forgotten is the intent to delete all that is kept of the chat. alone: one person
// writes in it.
func (s *State) Forgotten(key messages.ChatKey, at time.Time, by string, alone bool) Forgetting {
	meta := s.Meta()
	keep := Meta{
		Version: meta.Version, IngressIDs: meta.IngressIDs, N: meta.N, Seq: meta.Seq, Requests: meta.Requests, Counts: meta.Counts.clone(),
		Referrals: meta.Referrals, Buttons: meta.Buttons,
	}
	for i := range keep.Buttons {
		keep.Buttons[i].Text = ""
	}
	if open := len(s.Open()); open > 0 {
		keep.Counts.Fates[FateStopped] += int64(open) // nobody answers them any more
	}
	f := Forgetting{Version: 1, ChatKey: key, At: at.UTC(), By: by, Keep: keep}
	if !alone {
		return f
	}
	seen := map[string]bool{}
	for _, turns := range [][]Turn{s.History, s.Lane} {
		for _, t := range turns {
			if user := messages.PersonKey(t.Meta.Channel, t.Meta.UserID); user != "" && !seen[user] {
				seen[user] = true
				f.Users = append(f.Users, user)
			}
		}
	}
	if len(f.Users) > 1 { // it is more than one person's after all
		f.Users = nil
	}
	return f
}
