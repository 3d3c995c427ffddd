package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Of a host that takes connections and says nothing, as one that was suspended, the doctor says so after a few seconds,
// and checks what it can. The addresses of that host are not those of another program.
func TestDoctorOfASilentHost(t *testing.T) {
	q := newAsked(t)
	if err := os.WriteFile(filepath.Join(q.dir, "ship.json"), []byte(`{"permissions": {"exec": {"sandbox": "off"}}}`), 0o600); err != nil {
		t.Fatal(err) // its probe would run this program
	}
	l, err := terminal.Listen(t.Context(), host.SocketPath(q.state))
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	began := time.Now()
	found, err := q.app.findings(t.Context(), q.dir, q.state, false)
	if took := time.Since(began); err != nil || took > 2*answersWithin {
		t.Errorf("after %v: %v", took, err)
	}
	about := func(group string) int {
		return slices.IndexFunc(found, func(f checkup.Finding) bool { return f.Group == group })
	}
	if n := about("host"); n < 0 || found[n].Mark != checkup.Fail || !strings.Contains(found[n].Fact, "does not answer") || found[n].Fix == "" {
		t.Errorf("of the host it says %+v", found)
	}
	if about("project") < 0 || about("model") < 0 || about("tasks") < 0 || about("web") >= 0 {
		t.Errorf("it checks %+v", found)
	}
}
