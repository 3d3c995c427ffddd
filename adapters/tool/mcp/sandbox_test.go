//go:build linux

package mcp

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestSU2Sandbox runs servers in the sandboxes that hosts have: they work, and what
// they were not granted they neither see nor reach, nor does it outlive them.
func TestSU2Sandbox(t *testing.T) {
	t.Setenv("CANARY", "canary-in-the-environment")
	for _, box := range []sandboxtest.Checker{bubblewrap.New(bubblewrap.Options{}), landlock.New(landlock.Options{})} {
		t.Run(box.Name(), func(t *testing.T) {
			sandboxtest.Need(t, box)
			secret := filepath.Join(t.TempDir(), "secret")
			stdtest.Must(t, os.WriteFile(secret, []byte("canary"), 0o600))
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			stdtest.Must(t, err)
			defer func() { _ = l.Close() }() // nobody comes
			w := newWorld(t, func(o *Options) {
				o.Sandbox = box
				o.Hidden = []string{secret}
			})
			s := w.server("s", plain("env", "reach", "echo"))
			dir := filepath.Join(w.dir, "script-s")
			s.Write = []string{dir}
			granted := w.server("granted", plain("reach"))
			granted.Write, granted.Read, granted.Network = []string{filepath.Join(w.dir, "script-granted")}, []string{filepath.Dir(secret)}, true
			w.apply(s, granted)
			w.up("s", "granted")
			if got := w.mustCall("s:env", `{}`); strings.Contains(got, "canary") || strings.Count(got, `\n`) != 3 {
				t.Errorf("environment = %s, want PATH, HOME, PWD and its own", got)
			}
			reach := func(server, read, write string) string {
				input, err := json.Marshal(map[string]string{"read": read, "write": write, "dial": l.Addr().String()})
				stdtest.Must(t, err)
				return w.mustCall(server+":reach", string(input))
			}
			outside := filepath.Join(w.dir, "outside")
			if got := reach("s", secret, outside); !strings.Contains(got, "read: false") || !strings.Contains(got, "dial: false") {
				t.Errorf("what was not granted: %s", got)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("a file was written outside") // one in a folder of its own is none
			}
			home := filepath.Join(w.o.State, "home", "s", "notes")
			if got := reach("s", filepath.Join(dir, "tools.json"), home); got != `"read: true, write: true, dial: false"` {
				t.Errorf("what was granted: %s", got)
			}
			if got := reach("granted", secret, home); got != `"read: false, write: false, dial: true"` {
				t.Errorf("a hidden file in a granted folder, another's home, and the network: %s", got)
			}
			npmInSandbox(t, w)
		})
	}
}

func npmInSandbox(t *testing.T, w *world) {
	t.Helper()
	dir := t.TempDir()
	s := npmServer(t, "filesystem", dir)
	s.Write = []string{dir}
	w.apply(s)
	w.up("filesystem")
	w.mustCall("filesystem:write_file", fmt.Sprintf(`{"path":%q,"content":"by a server"}`, filepath.Join(dir, "new.txt")))
	if data, err := os.ReadFile(filepath.Join(dir, "new.txt")); err != nil || string(data) != "by a server" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}
