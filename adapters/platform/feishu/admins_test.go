package feishu_test

import (
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
)

// Administrators are the owner of a group and its managers by their open ids. A private chat has
// none, and a failure is an error without a secret.
func TestAP5Admins(t *testing.T) {
	b := newBench(t, true, nil)
	var bot platform.Administered = b.bot
	for _, tt := range []struct {
		name, owner string
		managers    []string
		want        []string
	}{
		{"owner and managers", "ou_1", []string{"ou_2", "ou_3"}, []string{"ou_2", "ou_3", "ou_1"}},
		{"only an owner", "ou_1", nil, []string{"ou_1"}},
		{"a bot's", "", []string{"ou_2"}, []string{"ou_2"}},
		{"ids of another kind", "on_1", []string{"Ann", ""}, nil},
		{"nobody", "", nil, nil},
	} {
		b.api.SetAdmins(group, tt.owner, tt.managers...)
		if got, err := bot.Admins(t.Context(), group); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	b.api.SetAdmins(private, "ou_1")
	if got, err := bot.Admins(t.Context(), private); err != nil || len(got) != 0 {
		t.Errorf("of a chat of one person: %q, %v", got, err)
	}
	if got, err := bot.Admins(t.Context(), "../../auth"); err != nil || len(got) != 0 {
		t.Errorf("of no chat: %q, %v", got, err)
	}
	b.api.Fail(feishutest.Fault{Path: "/im/v1/chats", Kind: faketest.Refuse, Code: 99991672, Text: "Access denied. One of the following scopes is required: [im:chat:readonly]."})
	if got, err := bot.Admins(t.Context(), group); err == nil || got != nil {
		t.Errorf("without the scope: %q, %v", got, err)
	} else {
		b.clean(t, err.Error())
	}
	b.api.Kick(group)
	if got, err := bot.Admins(t.Context(), group); err == nil || got != nil {
		t.Errorf("of a group that the bot is not in: %q, %v", got, err)
	}
}
