//go:build linux

package box

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Cgroups finds the control groups that can limit programs: the memory and the number of processes of a whole
// program, which nothing else can limit. The zero value has none. It is safe for concurrent use.
type Cgroups struct {
	v2     string // the folder in which groups can be made, or empty
	memory string // the same for version 1
	pids   string
	cpu    string
	v2cpu  bool // version 2 also controls CPU time
	next   *atomic.Int64
}

// FindCgroups finds out where this process may make groups.
func FindCgroups() Cgroups {
	c := findCgroups("/proc/self/cgroup", "/proc/self/mountinfo")
	c.sweep()
	return c
}

func findCgroups(self, mounts string) Cgroups {
	out := Cgroups{next: &atomic.Int64{}}
	own := ownGroups(self)
	for _, m := range groupMounts(mounts) {
		switch {
		case m.v2:
			out.v2, out.v2cpu = usableV2(filepath.Join(m.at, strings.TrimPrefix(own[""], m.root)), m.at)
		case slices.Contains(m.options, "memory"):
			out.memory = usable(filepath.Join(m.at, strings.TrimPrefix(own["memory"], m.root)))
		case slices.Contains(m.options, "pids"):
			out.pids = usable(filepath.Join(m.at, strings.TrimPrefix(own["pids"], m.root)))
		case slices.Contains(m.options, "cpu"):
			out.cpu = usable(filepath.Join(m.at, strings.TrimPrefix(own["cpu"], m.root)))
		}
	}
	return out
}

// sweep removes what killed hosts have left behind: their groups, complete or not.
func (c Cgroups) sweep() {
	for _, dir := range []string{c.v2, c.memory, c.pids, c.cpu} {
		if dir == "" {
			continue
		}
		left, err := filepath.Glob(filepath.Join(dir, "sma-*-*"))
		if err != nil {
			continue
		}
		for _, old := range left {
			var pid, n int
			if _, err := fmt.Sscanf(filepath.Base(old), "sma-%d-%d", &pid, &n); err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
				lost := group{dirs: []string{old}}
				lost.kill()
				_ = os.Remove(old) // the next host tries again
			}
		}
	}
}

// Memory reports whether the memory of programs is limited as a whole.
func (c Cgroups) Memory() bool { return c.memory != "" || c.v2 != "" }

// CPU reports whether programs get less CPU time than the host when the machine is busy.
func (c Cgroups) CPU() bool { return c.cpu != "" || c.v2cpu }

// Pids reports whether the number of processes is limited.
func (c Cgroups) Pids() bool { return c.pids != "" || c.v2 != "" }

// ownGroups are the groups of this process by controller; the name for version 2 is empty.
func ownGroups(path string) map[string]string {
	out := map[string]string{}
	data, err := os.ReadFile(path)
	if err != nil {
		return out
	}
	for line := range bytes.Lines(data) {
		parts := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for name := range strings.SplitSeq(parts[1], ",") {
			out[name] = parts[2]
		}
	}
	return out
}

type groupMount struct {
	at, root string
	v2       bool
	options  []string
}

func groupMounts(path string) []groupMount {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var out []groupMount
	for lines := bufio.NewScanner(f); lines.Scan(); {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 || right[0] != "cgroup" && right[0] != "cgroup2" {
			continue
		}
		root := left[3]
		if root == "/" {
			root = ""
		}
		out = append(out, groupMount{at: left[4], root: root, v2: right[0] == "cgroup2", options: strings.Split(right[2], ",")})
	}
	return out
}

// usable returns the folder if groups can be made in it, otherwise "".
func usable(dir string) string {
	if unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	return dir
}

// usableV2 finds a folder whose groups get the controllers: the process's own group or its parent, because a group
// that contains processes cannot pass controllers on.
func usableV2(own, top string) (dir string, cpu bool) {
	for _, dir := range []string{own, filepath.Dir(own)} {
		if !within(dir, top) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control")) //nolint:gosec // the kernel's
		given := strings.Fields(string(data))
		if err == nil && slices.Contains(given, "memory") && slices.Contains(given, "pids") && usable(dir) != "" {
			return dir, slices.Contains(given, "cpu")
		}
	}
	return "", false
}

// group limits one program.
type group struct {
	dirs []string
	v2   bool
}

// shares and weight give a whole program half the CPU time of any other when the machine is busy; on an idle machine
// it gets everything. Without a group the kernel may give each session of a program as much as the host
// (sched_autogroup). With a lower share, programs might never finish on a machine that is always busy. The default is
// 1024 in version 1 and 100 in version 2.
const (
	shares = "512"
	weight = "50"
)

// ownProcesses is the number of processes that a sandbox itself needs.
const ownProcesses = 24

// new makes a group for one program; without controllers it has no effect. A name that is taken belongs to a killed
// host that had our process id.
func (c Cgroups) new(memory int64, processes int) (*group, error) {
	if c.next == nil {
		return &group{}, nil
	}
	const tries = 1000
	for n := 1; ; n++ {
		g, err := c.named(fmt.Sprintf("sma-%d-%d", os.Getpid(), c.next.Add(1)), memory, processes)
		if err == nil {
			return g, nil
		}
		g.remove()
		if n == tries || !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("bound the program: %w", err)
		}
	}
}

// named makes a group with a name. After an error a part of it may exist.
func (c Cgroups) named(name string, memory int64, processes int) (*group, error) {
	g := &group{v2: c.v2 != ""}
	most := strconv.Itoa(processes + ownProcesses)
	bytes := strconv.FormatInt(memory, 10)
	if g.v2 {
		return g, g.make(filepath.Join(c.v2, name), [][2]string{{"pids.max", most}, {"memory.max", bytes}}, [][2]string{{"memory.swap.max", "0"}, {"memory.oom.group", "1"}, {"cpu.weight", weight}})
	}
	var err error
	if c.memory != "" {
		err = g.make(filepath.Join(c.memory, name), [][2]string{{"memory.limit_in_bytes", bytes}}, [][2]string{{"memory.memsw.limit_in_bytes", bytes}})
	}
	if c.pids != "" && err == nil {
		err = g.make(filepath.Join(c.pids, name), [][2]string{{"pids.max", most}}, nil)
	}
	if c.cpu != "" && err == nil {
		err = g.make(filepath.Join(c.cpu, name), nil, [][2]string{{"cpu.shares", shares}})
	}
	return g, err
}

func (g *group) make(dir string, must, may [][2]string) error {
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // the kernel's files in it have their own modes
		return err
	}
	g.dirs = append(g.dirs, dir)
	for _, set := range must {
		if err := os.WriteFile(filepath.Join(dir, set[0]), []byte(set[1]), 0o600); err != nil {
			return err
		}
	}
	for _, set := range may {
		_ = os.WriteFile(filepath.Join(dir, set[0]), []byte(set[1]), 0o600) // not supported by every kernel
	}
	return nil
}

// add puts a process into the group, including its later children.
func (g *group) add(pid int) error {
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600); err != nil {
			return fmt.Errorf("bound the program: %w", err)
		}
	}
	return nil
}

// hits reports whether the limits of memory and of processes were reached.
func (g *group) hits() (memory, processes bool) {
	for _, dir := range g.dirs {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			memory = memory || counted(filepath.Join(dir, name), "oom_kill")
		}
		processes = processes || counted(filepath.Join(dir, "pids.events"), "max")
	}
	return memory, processes
}

func counted(path, key string) bool {
	data, err := os.ReadFile(path) //nolint:gosec // the kernel's
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		words := strings.Fields(string(line))
		if len(words) == 2 && words[0] == key && words[1] != "0" {
			return true
		}
	}
	return false
}

// kill kills all processes of the group.
func (g *group) kill() {
	for _, dir := range g.dirs {
		if g.v2 {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o600) // since Linux 5.14; the loop has the same effect
		}
		for _, pid := range members(dir) {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
		}
	}
}

func members(dir string) []int {
	data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs")) //nolint:gosec // the kernel's
	if err != nil {
		return nil
	}
	var out []int
	for word := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	return out
}

// remove removes the group. The kernel may need a moment to release the last process.
func (g *group) remove() {
	for _, dir := range g.dirs {
		tick := time.NewTicker(time.Millisecond)
		for range 2000 {
			err := os.Remove(dir)
			if err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			g.kill()
			<-tick.C
		}
		tick.Stop()
	}
	g.dirs = nil
}
