package messages

import "testing"

func TestTypesOfChats(t *testing.T) {
	for _, tt := range []struct {
		chatType, chat string
		private, group bool
	}{
		{ChatPrivate, "42", true, false},
		{ChatP2P, "oc_1", true, false},
		{ChatGroup, "oc_1", false, true},
		{ChatSupergroup, "-1001", false, true},
		{ChatTopicGroup, "oc_1", false, true},
		{ChatChannel, "-1001", false, true},
		{"web", "-1", false, false},
		{"", "42", false, false},
		{"", "-1001", false, true},
		{"", "oc_1", false, false},
	} {
		if private, group := IsPrivate(tt.chatType), IsGroup(tt.chatType, tt.chat); private != tt.private || group != tt.group {
			t.Errorf("%q of type %q: private %v, group %v", tt.chat, tt.chatType, private, group)
		}
	}
}
