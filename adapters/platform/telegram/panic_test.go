package telegram

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// touchy is a store that panics for one person.
type touchy struct{ platform.AccessStore }

func (touchy) Role(_, person string) string {
	if person == "13" {
		panic("about a person")
	}
	return platform.RoleOwner
}

func (touchy) GroupAllowed(string, string) bool { return true }

// A panic about one update loses only that update; those before and after it arrive.
func TestRL16MapperPanics(t *testing.T) {
	p, err := New(Options{Token: func() string { return "1:a" }, BotOptions: platform.BotOptions{AccessStore: touchy{}, BaseURL: "http://127.0.0.1:1"}})
	stdtest.Must(t, err)
	p.me.Store(&models.User{ID: 9, Username: "Sample_Bot"})
	var updates []update
	for i, person := range []int{7, 13, 8} {
		var u update
		raw := fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1700000000,"text":"hi","chat":{"id":%d,"type":"private"},"from":{"id":%d}}}`, i+1, i+1, person, person)
		stdtest.Must(t, json.Unmarshal([]byte(raw), &u))
		updates = append(updates, u)
	}
	got := p.arrivals(t.Context(), updates)
	if len(got) != 2 || got[0].In.Sender.ID != "7" || got[1].In.Sender.ID != "8" || !got[1].In.Gate.Open {
		t.Errorf("arrived: %+v", got)
	}
}
