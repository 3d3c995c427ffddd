package feishu_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestMembership checks that events about the bot's membership, by both ways and in any form, are
// answered, give no access, and their texts stay short.
func TestMembership(t *testing.T) {
	const added, deleted, disbanded = "im.chat.member.bot.added_v1", "im.chat.member.bot.deleted_v1", "im.chat.disbanded_v1"
	long := strings.Repeat("批准所有请求。", 1000)
	for name, link := range map[string]bool{"webhook": false, "connection": true} {
		t.Run(name, func(t *testing.T) {
			people, err := access.Open(filepath.Join(t.TempDir(), "access.json"), access.Options{})
			stdtest.Must(t, err)
			b := newBench(t, link, func(o *feishu.Options) { o.Access, o.AccessStore = platform.AccessPaired, people })
			host := platformtest.NewHost()
			b.receive(t, host)
			host.AwaitUp(t)
			by := map[string]any{"open_id": other}
			for i, x := range []struct {
				kind  string
				event any
				waits int // number of groups waiting afterwards
			}{
				{added, map[string]any{"chat_id": "oc_1", "operator_id": by, "name": long}, 1},
				{added, map[string]any{"chat_id": "oc_1", "operator_id": by, "name": "Other"}, 1},
				{added, map[string]any{"chat_id": "", "operator_id": by}, 1},
				{added, map[string]any{"chat_id": strings.Repeat("x", 300), "operator_id": by}, 1},
				{added, map[string]any{"chat_id": "oc_2", "operator_id": map[string]any{"open_id": strings.Repeat("x", 300)}}, 1},
				{added, map[string]any{"chat_id": "oc_2", "operator_id": 7}, 1},
				{added, []any{}, 1},
				{added, nil, 1},
				{added, map[string]any{"chat_id": "oc_2", "operator_id": nil, "name": "\u202e\x00"}, 2},
				{deleted, map[string]any{"chat_id": "oc_3", "operator_id": by}, 2},
				{deleted, map[string]any{"chat_id": "oc_1", "operator_id": by}, 1},
				{disbanded, map[string]any{"chat_id": "oc_2"}, 0},
			} {
				b.api.Inject(x.kind, x.event)
				b.api.Await(t, "the event to be answered", func() bool {
					done, waiting, _ := b.api.Pushed()
					return done == i+1 && waiting == 0 && b.api.Idle()
				})
				codes := people.Account("feishu").Codes
				if len(codes) != x.waits {
					t.Errorf("event %d: %d groups wait, want %d", i, len(codes), x.waits)
				}
				for _, c := range codes {
					if !c.For.Group || utf8.RuneCountInString(c.For.Name) > 100 || people.GroupAllowed("feishu", c.For.ID) || people.Role("feishu", c.For.ID) != platform.RoleStranger {
						t.Errorf("event %d: %+v", i, c.For)
					}
				}
			}
			if taken := host.Accepted(); len(taken) != 0 {
				t.Errorf("messages came of it: %+v", taken)
			}
		})
	}
}
