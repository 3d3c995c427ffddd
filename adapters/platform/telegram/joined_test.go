package telegram

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The meanings of my_chat_member updates: the bot was added, it was removed, or nothing.
func TestMembership(t *testing.T) {
	p, err := New(Options{Token: func() string { return "1:x" }, BotOptions: platform.BotOptions{Access: platform.AccessOpen}})
	stdtest.Must(t, err)
	p.moves.learn("-20", "-100200")
	group := func(id, kind string) string { return `"chat":{"id":` + id + `,"type":"` + kind + `","title":"Team"}` }
	change := func(from, to string) string {
		return `,"from":{"id":3,"is_bot":false,"first_name":"Eve"},"date":100,"old_chat_member":{"status":"` + from + `"},"new_chat_member":{"status":"` + to + `"}`
	}
	const in, out, nothing = "in", "out", "nothing"
	for name, x := range map[string]struct{ update, want, id string }{
		"added":                         {group("-5", "group") + change("left", "member"), in, "-5"},
		"added after a ban":             {group("-5", "supergroup") + change("kicked", "member"), in, "-5"},
		"added as an administrator":     {group("-5", "supergroup") + change("left", "administrator"), in, "-5"},
		"made an administrator":         {group("-5", "supergroup") + change("member", "administrator"), nothing, ""},
		"no administrator any more":     {group("-5", "supergroup") + change("administrator", "member"), nothing, ""},
		"taken out":                     {group("-5", "supergroup") + change("administrator", "kicked"), out, "-5"},
		"it left":                       {group("-5", "group") + change("member", "left"), out, "-5"},
		"banned after it left":          {group("-5", "supergroup") + change("left", "kicked"), nothing, ""},
		"restricted, and still there":   {group("-5", "supergroup") + `,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"restricted","is_member":true}`, nothing, ""},
		"restricted after it left":      {group("-5", "supergroup") + `,"old_chat_member":{"status":"left"},"new_chat_member":{"status":"restricted","is_member":false}`, nothing, ""},
		"added, restricted":             {group("-5", "supergroup") + `,"old_chat_member":{"status":"left"},"new_chat_member":{"status":"restricted","is_member":true}`, in, "-5"},
		"a channel":                     {group("-5", "channel") + change("left", "administrator"), nothing, ""},
		"somebody blocks the bot":       {group("3", "private") + change("member", "kicked"), nothing, ""},
		"the group became a supergroup": {group("-20", "group") + change("member", "left"), nothing, ""},
		"the supergroup that it became": {group("-100200", "supergroup") + change("left", "member"), in, "-20"},
		"the supergroup without us":     {group("-100200", "supergroup") + change("member", "kicked"), out, "-20"},
		"a status nobody knows":         {group("-5", "group") + change("left", "emperor"), nothing, ""},
		"no chat":                       {`"date":1` + change("left", "member"), nothing, ""},
		"no members":                    {group("-5", "group"), nothing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			updates, bad, err := decodeUpdates(json.RawMessage(`[{"update_id":1,"my_chat_member":{` + x.update + `}}]`))
			if err != nil || len(bad) > 0 || len(updates) != 1 || updates[0].Mine == nil {
				t.Fatalf("read as %+v, %v, %v", updates, bad, err)
			}
			m, ok := p.membershipOf(*updates[0].Mine)
			got := nothing
			switch {
			case ok && m.In:
				got = in
			case ok:
				got = out
			}
			if got != x.want || m.Group.ID != x.id || m.Listed || ok && m.Group.Title != "Team" {
				t.Errorf("means %s of %+v, want %s of %q", got, m, x.want, x.id)
			}
		})
	}
	if m, ok := p.membershipOf(membership{Chat: wire.Chat{ID: -5, Type: "group"}, New: member{Status: "member"}}); !ok || m.By.ID != "" || m != (botkit.Membership{Group: m.Group, In: true, At: m.At}) {
		t.Errorf("added by nobody: %+v", m)
	}
}
