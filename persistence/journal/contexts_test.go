package journal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/contextsearch"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func saying(role uimessage.Role, id, text string, meta uimessage.Metadata) journal.Turn {
	return journal.NewTurn(uimessage.Message{ID: id, Role: role, Parts: []uimessage.Part{uimessage.Text{Text: text}}, Metadata: meta.Append(nil)})
}

// The file of a context has the members that other programs read.
func TestContextFormat(t *testing.T) {
	order := messages.ContextSwitch{Kind: messages.ContextNew, ID: messages.NewContextID(time.Date(2026, 3, 4, 1, 0, 0, 0, time.UTC), "ABCDEFGHIJ"), Reason: "why"}
	c := journal.NewContext(order, 900, []journal.Turn{
		saying(uimessage.RoleAssistant, "s", "what was before", uimessage.Metadata{TS: 100, Kind: uimessage.KindSummary}),
		saying(uimessage.RoleUser, "u", strings.Repeat("长 ", 200), uimessage.Metadata{TS: 200}),
		saying(uimessage.RoleAssistant, "a", "answer", uimessage.Metadata{TS: 300}),
	})
	if !messages.ValidContextID(c.ID) || c.ID != "c_20260304_abcdefgh" {
		t.Errorf("id %q", c.ID)
	}
	if n := utf8.RuneCountInString(c.Title); n != 120 {
		t.Errorf("a title of %d characters", n)
	}
	raw, err := json.Marshal(c)
	stdtest.Must(t, err)
	var members map[string]any
	stdtest.Must(t, json.Unmarshal(raw, &members))
	delete(members, "messages")
	delete(members, "title")
	want := map[string]any{
		"v": 1.0, "contextId": c.ID, "status": "archived", "reason": "why", "createdAt": 100.0, "updatedAt": 300.0, "archivedAt": 900.0,
		"archiveReason": "new", "checkpoint": "a", "summary": "what was before",
	}
	stdtest.Diff(t, "members", want, members)
	var again journal.Context
	stdtest.Must(t, json.Unmarshal(raw, &again))
	stdtest.Diff(t, "read back", c, again, cmp.Transformer("message", func(m uimessage.Message) string { return string(uimessage.AppendJSON(nil, m)) }))
	item := c.Item(50)
	if utf8.RuneCountInString(item.SearchText) != 50 || !strings.HasSuffix(item.SearchText, "answer") || item.SummaryPreview != "what was before" || item.MessageCount != 3 {
		t.Errorf("item %+v", item)
	}
}

func TestValidContextID(t *testing.T) {
	for id, want := range map[string]bool{
		"c_20260304_abcd": true, "c_20260304_0123456789": true, "c_20260304_abc": false, "c_2026034_abcd": false, "c_20260304_ABCD": false,
		"": false, "../c_20260304_abcd": false, "c_20260304_abcd.json": false, "c_20260304_ab/cd": false, "c_20260304_abcd\n": false,
	} {
		if got := messages.ValidContextID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

func TestFindContext(t *testing.T) {
	items := []journal.ContextItem{
		{ID: "c_20260101_0004", Title: "Garden", SummaryPreview: "roses", SearchText: "the roses need water", ArchivedAt: 4},
		{ID: "c_20260101_0003", Title: "预订会议室", SummaryPreview: "三楼的会议室已经订好", SearchText: "请订会议室", ArchivedAt: 3},
		{ID: "c_20260101_0002", Title: "Invoice March", SearchText: "invoice 4711 of March", ArchivedAt: 2},
		{ID: "c_20260101_0001", Title: "Invoice April", SearchText: "invoice 4712 of April, unlike March", ArchivedAt: 1},
	}
	for i := range 12 {
		items = append(items, journal.ContextItem{ID: fmt.Sprintf("c_20250101_%04d", i), Title: "filler", ArchivedAt: -int64(i)})
	}
	tests := []struct {
		query string
		found bool
		want  string // the last digits of the ids
	}{
		{"c_20260101_0002", true, "0002"},
		{"roses", true, "0004"},
		{"ROSES water?", true, "0004"},
		{"会议室", true, "0003"},
		{"三楼 会议室", true, "0003"},
		{"议会", false, ""},
		{"invoice march", true, "0002"}, // a match in the title ranks higher
		{"invoice", false, "0002 0001"},
		{"invoice 4712", true, "0001"},
		{"invoice roses", false, "0002 0001 0004"},
		{"filler", false, ""},
		{"", false, "0004 0003 0002 0001"},
		{"?!", false, "0004"},
	}
	for _, tt := range tests {
		best, found := contextsearch.Find(items, tt.query, 10)
		var got []string
		for _, item := range best {
			got = append(got, item.ID[len(item.ID)-4:])
		}
		wanted := strings.Fields(tt.want)
		if found != tt.found || !found && len(best) != 10 || !slices.Equal(wanted, got[:len(wanted)]) {
			t.Errorf("%q: found %v, %q", tt.query, found, got)
		}
	}
	if best, found := contextsearch.Find(nil, "x", 10); found || best != nil {
		t.Errorf("in no contexts: %v, %v", best, found)
	}
}
