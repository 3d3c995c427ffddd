package journal

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Forgetting is the intent to delete everything that is kept of a chat. It is durable before anything is deleted, so
// that the deletion can be completed after a crash. It contains nothing that people or the bot said.
type Forgetting struct {
	Version int              `json:"v"`
	ChatKey messages.ChatKey `json:"chatKey"`
	At      time.Time        `json:"at"`
	By      string           `json:"by,omitempty"`
	// Keep is what the chat continues with: the ids and numbers it has used, the private chats that still show its
	// requests, and its messages that still have buttons.
	Keep Meta `json:"keep"`
	// Users are the people whose own memory is deleted with the chat, because the chat was theirs alone.
	Users []string `json:"users,omitempty"`
	// Emptied is set once the chat's folder has nothing but what Keep says. A repetition then leaves it alone, because
	// it has what came later.
	Emptied bool `json:"emptied,omitempty"`
	// Tasks are the tasks that the chat had. A repetition leaves those alone that came later. It is nil in an intent of
	// an older version, which means all.
	Tasks []string `json:"tasks"`
	// Done are the other steps of the deletion that need no repetition.
	Done []string `json:"done,omitempty"`
}

// ErrNotBegun is why nothing of a chat was deleted, and will not be later: there is no intent to do so.
var ErrNotBegun = errors.New("nothing was deleted")

// Forgotten returns the intent to delete everything that is kept of the chat. alone is set if only one person writes
// in it; the ledger, which is not read otherwise, tells who it is, because turns may have left the history.
func (s *State) Forgotten(key messages.ChatKey, at time.Time, by string, alone bool, ledger iter.Seq[LedgerEntry]) Forgetting {
	meta := s.Meta()
	keep := Meta{
		Version: meta.Version, IngressIDs: meta.IngressIDs, N: meta.N, Seq: meta.Seq, Requests: meta.Requests, Counts: meta.Counts.clone(),
		Referrals: meta.Referrals, Buttons: meta.Buttons,
	}
	for i := range keep.Buttons {
		keep.Buttons[i].Text = ""
	}
	if open := len(s.Open()); open > 0 {
		keep.Counts.Fates[FateStopped] += int64(open) // they will not be answered
	}
	f := Forgetting{Version: 1, ChatKey: key, At: at.UTC(), By: by, Keep: keep}
	if !alone {
		return f
	}
	addr, _ := key.Address()
	add := func(channel, id string) bool {
		if user := messages.PersonKey(channel, id); user != "" && !slices.Contains(f.Users, user) {
			f.Users = append(f.Users, user)
		}
		return len(f.Users) < 2
	}
	for _, t := range slices.Concat(s.History, s.Lane) {
		add(t.Meta.Channel, t.Meta.UserID)
	}
	for e := range ledger {
		if !add(addr.Platform, e.UserID) {
			break
		}
	}
	if len(f.Users) > 1 { // several people wrote in it after all
		f.Users = nil
	}
	return f
}
