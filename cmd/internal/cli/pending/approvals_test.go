package pending

import (
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
)

// A request whose time ended while no host was running is not said to wait.
func TestRequestsTextSaysWhatHasExpired(t *testing.T) {
	for _, tt := range []struct {
		name, lang string
		left       time.Duration
		want       string
	}{
		{"open", "", 10 * time.Minute, "c  #1  x  expires in 10 minutes\n"},
		{"expired", "", -time.Minute, "c  #1  x  has expired\n"},
		{"expired, in Chinese", "zh_CN.UTF-8", -time.Minute, "c  #1  x  已失效\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &console.Console{Env: func(name string) (string, bool) { return tt.lang, name == "LANG" }}
			got := RequestsText(a, []query.ApprovalLine{{ChatKey: "c", N: 1, Tool: "x", Expires: time.Now().Add(tt.left)}})
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
