//go:build linux

package box

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// put writes a file below a folder.
func put(t *testing.T, path, text string) string {
	t.Helper()
	stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWhereGroupsAreMade(t *testing.T) {
	dir := t.TempDir()
	mount := func(at, root, kind, options string) string {
		return fmt.Sprintf("30 20 0:25 %s %s rw,relatime shared:9 - %s cgroup rw,%s\n", root, at, kind, options)
	}
	put(t, filepath.Join(dir, "delegated/unit/cgroup.subtree_control"), "cpu memory pids\n")
	put(t, filepath.Join(dir, "delegated/unit/main/cgroup.subtree_control"), "")
	put(t, filepath.Join(dir, "plain/unit/cgroup.subtree_control"), "cpu\n")
	put(t, filepath.Join(dir, "memory/here/tasks"), "")
	put(t, filepath.Join(dir, "pids/tasks"), "")
	put(t, filepath.Join(dir, "cpu/tasks"), "")
	tests := []struct {
		name, groups, mounts string
		want                 Cgroups
	}{
		{"version 2, our own group hands controllers on", "0::/unit\n", mount(dir+"/delegated", "/", "cgroup2", ""), Cgroups{v2: dir + "/delegated/unit", v2cpu: true}},
		{"version 2, the one above does", "0::/unit/main\n", mount(dir+"/delegated", "/", "cgroup2", ""), Cgroups{v2: dir + "/delegated/unit", v2cpu: true}},
		{"version 2, nothing is delegated", "0::/unit\n", mount(dir+"/plain", "/", "cgroup2", ""), Cgroups{}},
		{"version 2, above the mount", "0::/\n", mount(dir+"/plain/unit", "/", "cgroup2", ""), Cgroups{}},
		{
			"version 1", "9:pids:/\n8:memory:/here\n4:cpu,cpuacct:/\n0::/\n",
			mount(dir+"/memory", "/", "cgroup", "memory") + mount(dir+"/pids", "/", "cgroup", "pids") + mount(dir+"/cpu", "/", "cgroup", "cpu,cpuacct"),
			Cgroups{memory: dir + "/memory/here", pids: dir + "/pids", cpu: dir + "/cpu"},
		},
		{"version 1 in a container", "8:memory:/box/here\n", mount(dir+"/memory", "/box", "cgroup", "memory"), Cgroups{memory: dir + "/memory/here"}},
		{"nothing", "", "not a mount\n", Cgroups{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := findCgroups(put(t, filepath.Join(t.TempDir(), "cgroup"), tt.groups), put(t, filepath.Join(t.TempDir(), "mountinfo"), tt.mounts))
			got.next = nil
			if got != tt.want {
				t.Errorf("groups = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestHits(t *testing.T) {
	dir := t.TempDir()
	g := group{dirs: []string{dir}}
	put(t, filepath.Join(dir, "memory.events"), "low 0\noom 0\noom_kill 0\n")
	put(t, filepath.Join(dir, "pids.events"), "max 7\n")
	if memory, processes := g.hits(); memory || !processes {
		t.Errorf("hits = %v, %v; want processes alone", memory, processes)
	}
	put(t, filepath.Join(dir, "memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
	if memory, _ := g.hits(); !memory {
		t.Error("a kill for want of memory was not seen")
	}
}

// A killed host with the same process id left its group behind. The program gets another group.
func TestGroupOfALostHost(t *testing.T) {
	dir := t.TempDir()
	stdtest.Must(t, os.Mkdir(filepath.Join(dir, fmt.Sprintf("sma-%d-1", os.Getpid())), 0o700))
	c := Cgroups{cpu: dir, next: &atomic.Int64{}}
	g, err := c.new(1<<20, 1)
	stdtest.Must(t, err)
	if want := filepath.Join(dir, fmt.Sprintf("sma-%d-2", os.Getpid())); len(g.dirs) != 1 || g.dirs[0] != want {
		t.Errorf("groups: %q, want %q", g.dirs, want)
	}
	stdtest.Must(t, os.Remove(filepath.Join(g.dirs[0], "cpu.shares"))) // the kernel's own files go with the group
	g.remove()
	if _, err := (Cgroups{cpu: filepath.Join(dir, "gone"), next: &atomic.Int64{}}).new(1, 1); err == nil {
		t.Error("a group was made in a folder that is not there")
	}
}

func TestPlacesAreKept(t *testing.T) {
	dir := t.TempDir()
	there, missing := put(t, filepath.Join(dir, "there"), "text"), filepath.Join(dir, "missing")
	files := func(paths ...string) (out []place) {
		for _, path := range paths {
			out = append(out, place{path: path})
		}
		return out
	}
	var k keeper
	first, err := k.hold(files(there, missing))
	stdtest.Must(t, err)
	second, err := k.hold(files(there, missing))
	stdtest.Must(t, err)
	exists := func() bool { _, err := os.Lstat(missing); return err == nil }
	first()
	first()
	if !exists() {
		t.Error("the place is gone while the second needs it")
	}
	second()
	if exists() {
		t.Error("the place was left behind")
	}
	third, err := k.hold(files(missing))
	stdtest.Must(t, err)
	put(t, missing, "a person's")
	third()
	if data, err := os.ReadFile(missing); err != nil || string(data) != "a person's" {
		t.Errorf("what somebody wrote meanwhile = %q, %v", data, err)
	}
	if _, err := os.ReadFile(there); err != nil {
		t.Error(err)
	}
	if _, err := k.hold(files(missing, filepath.Join(dir, "no/folder"), filepath.Join(dir, "new"))); err == nil {
		t.Error("a place in a folder that does not exist was kept")
	}
}

func TestNamesAreWatched(t *testing.T) {
	tests := []struct {
		name   string
		change func(work string) error
		lost   bool
	}{
		{"nothing", func(string) error { return nil }, false},
		{"written", func(w string) error { return os.WriteFile(filepath.Join(w, "a/run.sh"), []byte("x"), 0o600) }, false},
		{"another file", func(w string) error { return os.WriteFile(filepath.Join(w, "a/other"), nil, 0o600) }, false},
		{"removed", func(w string) error { return os.Remove(filepath.Join(w, "a/run.sh")) }, true},
		{"replaced", func(w string) error { return os.Rename(filepath.Join(w, "evil"), filepath.Join(w, "a/run.sh")) }, true},
		{"its folder moved", func(w string) error { return os.Rename(filepath.Join(w, "a"), filepath.Join(w, "b")) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			work := t.TempDir()
			run := put(t, filepath.Join(work, "a/run.sh"), "good")
			put(t, filepath.Join(work, "evil"), "evil")
			w, err := newWatch(&Plan{Binds: []Bind{{Source: work, Granted: true}}, watched: []string{run}})
			stdtest.Must(t, err)
			calls := 0
			w.run(func() { calls++ })
			stdtest.Must(t, tt.change(work))
			if lost := w.end(); lost != tt.lost || (calls == 1) != tt.lost {
				t.Errorf("lost = %v, %d calls; want %v", lost, calls, tt.lost)
			}
		})
	}
}
