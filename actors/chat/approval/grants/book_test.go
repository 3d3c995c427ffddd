package grants

import (
	"fmt"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// The ends of grants do not accumulate in a chat that never rests.
func TestEndsAreForgotten(t *testing.T) {
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	b := Open(nil, Clock{Now: now})
	for n := range 1000 {
		now = now.Add(time.Minute)
		b = b.Give(now, permission.Grant{ID: fmt.Sprint(n), Rule: "ls *", From: now.UnixMilli(), Until: now.Add(time.Minute).UnixMilli()})
	}
	if n := len(b.ends); n > 100 {
		t.Errorf("the ends of %d grants are kept", n)
	}
}
