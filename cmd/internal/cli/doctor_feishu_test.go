package cli

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/config"
)

// TestDoctorNamesScopes: doctor asks the service and names each scope that the app
// lacks, with what people miss without it and what to do.
func TestDoctorNamesScopes(t *testing.T) {
	api := feishutest.NewAPI(t)
	var s config.Settings
	s.Adapters.Feishu = config.Feishu{Enabled: true, AppID: feishutest.App, AppSecret: config.NewSecret(api.Secret()), BaseURL: api.URL(), Drafts: "card"}
	if got := askPlatform(t, "feishu", s); len(got) != 1 || got[0].Mark != checkup.OK {
		t.Errorf("with all scopes: %+v", got)
	}
	lacks := map[string]checkup.Mark{"im:message.p2p_msg:readonly": checkup.Fail, "im:message.group_at_msg:readonly": checkup.Warn, "cardkit:card:write": checkup.Warn, "cardkit:card:read": checkup.Warn, "im:resource": checkup.Warn, "im:chat:readonly": checkup.Warn}
	s.Permissions.Exec.Approvers = []string{"platformAdmins"}
	for scope := range lacks {
		api.Withhold(true, scope)
	}
	got := askPlatform(t, "feishu", s)
	if len(got) != len(lacks) {
		t.Errorf("%d findings, want %d: %+v", len(got), len(lacks), got)
	}
	for scope, want := range lacks {
		found := false
		for _, f := range got {
			found = found || f.Mark == want && strings.Contains(f.Fact, "the scope "+scope+" is missing: ") && strings.Contains(f.Fix, "add "+scope+",")
		}
		if !found {
			t.Errorf("%s is not named as %s in %+v", scope, want, got)
		}
	}
	s.Adapters.Feishu.AppSecret = config.NewSecret("CANARY-wrong")
	if got := askPlatform(t, "feishu", s); len(got) != 1 || got[0].Mark != checkup.Refused || strings.Contains(got[0].Fact+got[0].Fix, "CANARY") {
		t.Errorf("with a wrong secret: %+v", got)
	}
	s.Adapters.Feishu.Enabled = false
	if got := askPlatform(t, "feishu", s); len(got) != 0 {
		t.Errorf("of an app that is off: %+v", got)
	}
}
