package feishu_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
)

// TestMissing checks that every scope that is not granted is reported, scopes for disabled features
// are not requested, and one of several suffices.
func TestMissing(t *testing.T) {
	all := func(o *feishu.Options) {
		o.Administered = true
		o.Drafts, o.Groups = feishu.DraftsCard, map[string]platform.Group{group: {Addressed: platform.GroupsAll}}
	}
	for name, x := range map[string]struct {
		set      func(*feishu.Options)
		withheld []string
		want     []string
	}{
		"none":            {all, nil, nil},
		"card":            {all, []string{"cardkit:card:write"}, []string{"cardkit:card:write"}},
		"card, to read":   {all, []string{"cardkit:card:read"}, []string{"cardkit:card:read"}},
		"card, no drafts": {nil, []string{"cardkit:card:write", "cardkit:card:read", "im:message.group_msg"}, nil},
		"one of two":      {all, []string{"im:message:send_as_bot"}, nil},
		"both":            {all, []string{"im:message:send_as_bot", "im:message"}, []string{"im:message:send_as_bot", "im:message"}},
		"events":          {all, []string{"im:message.p2p_msg:readonly", "im:message.group_at_msg:readonly", "im:message.group_msg"}, []string{"im:message.p2p_msg:readonly", "im:message.group_at_msg:readonly", "im:message.group_msg"}},
		"administrators":  {all, []string{"im:chat:readonly", "im:chat"}, []string{"im:chat:readonly"}},
		"nobody decides":  {nil, []string{"im:chat:readonly", "im:chat"}, nil},
		"files":           {all, []string{"im:resource"}, []string{"im:resource"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, false, x.set)
			b.api.Withhold(true, x.withheld...)
			needs, err := b.bot.Missing(t.Context())
			var got []string
			for _, n := range needs {
				got = append(got, n.Scope())
				if n.For == "" {
					t.Errorf("%s is for nothing", n.Scope())
				}
			}
			if diff := cmp.Diff(x.want, got); diff != "" || err != nil {
				t.Errorf("%v, (-want +got):\n%s", err, diff)
			}
		})
	}
	b := newBench(t, false, func(o *feishu.Options) { o.AppSecret = func() string { return "CANARY wrong" } })
	if _, err := b.bot.Missing(t.Context()); !errors.Is(err, feishu.ErrSecret) {
		t.Errorf("with a wrong secret: %v", err)
	}
	b = newBench(t, false, nil)
	b.api.Fail(feishutest.Fault{Path: "/scopes", Kind: faketest.ResetBefore, N: -1})
	if _, err := b.bot.Missing(t.Context()); err == nil {
		t.Error("no answer is not an error")
	}
}

// FuzzScopes checks that only scopes granted to the app count as granted, whatever the service
// returns.
func FuzzScopes(f *testing.F) {
	f.Add(`[{"scope_name":"im:message","grant_status":1,"scope_type":"tenant"},{"scope_name":"im:resource","grant_status":2}]`)
	f.Add(`[{"scope_name":"im:message","grant_status":1,"scope_type":"user"}]`)
	f.Fuzz(func(t *testing.T, list string) {
		var raw []map[string]any
		if json.Unmarshal([]byte(list), &raw) != nil {
			return
		}
		needs, ok := feishu.MissingForTest([]byte(list))
		if !ok {
			return
		}
		if len(raw) == 0 && len(needs) != len(feishu.Options{}.Needs()) {
			t.Errorf("nothing is granted, and %d needs are missing", len(needs))
		}
		for _, n := range needs {
			if slices.ContainsFunc(raw, func(m map[string]any) bool {
				return m["scope_name"] == n.Scope() && m["grant_status"] == 1.0 && m["scope_type"] == "tenant" && len(m) == 3
			}) {
				t.Errorf("%s is granted and missing in %s", n.Scope(), list)
			}
		}
	})
}
