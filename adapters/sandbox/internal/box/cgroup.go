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

// Cgroups finds the control groups in which programs can be bounded: memory and
// processes of all of a program together, which nothing else can bound. The
// zero value knows none. It is safe for concurrent use.
type Cgroups struct {
	v2     string // the folder in which groups can be made; empty: none
	memory string // version 1, the same
	pids   string
	cpu    string
	v2cpu  bool // version 2 shares out processors too
	next   *atomic.Int64
}

// FindCgroups looks where this process may make groups.
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

// sweep removes what hosts that were killed have left: their groups, and what
// was half made when they died.
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
				_ = os.Remove(old) // it is tried again by the next host
			}
		}
	}
}

// Memory says whether the memory of programs is bounded as a whole.
func (c Cgroups) Memory() bool { return c.memory != "" || c.v2 != "" }

// CPU says whether programs get less of a busy machine than the host.
func (c Cgroups) CPU() bool { return c.cpu != "" || c.v2cpu }

// Pids says whether the number of processes is bounded.
func (c Cgroups) Pids() bool { return c.pids != "" || c.v2 != "" }

// ownGroups are the groups of this process by controller; version 2 has no name.
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
	defer func() { _ = f.Close() }() // it was only read
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

// usable is a folder if groups can be made in it.
func usable(dir string) string {
	if unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	return dir
}

// usableV2 is where groups get the controllers: below our own group, or beside
// it, as a group with processes cannot hand controllers on.
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

// group bounds one program.
type group struct {
	dirs []string
	v2   bool
}

// The share of a busy machine's processors that all of a program gets, half of what
// any other has; of an idle one it gets all. Without a group the kernel may give each
// session that a program begins as much as the host (sched_autogroup). Less would
// keep programs from ever getting done on a machine that is always busy. Version 1
// counts from 1024, version 2 from 100.
const (
	shares = "512"
	weight = "50"
)

// ownProcesses is what a sandbox needs itself beside the program.
const ownProcesses = 24

// new makes a group for one program; without any controller it does nothing. A name
// that is taken is that of a host which was killed and had our number.
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

// named makes a group of that name; after an error it may be there in part.
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
		_ = os.WriteFile(filepath.Join(dir, set[0]), []byte(set[1]), 0o600) // not every kernel has it
	}
	return nil
}

// add puts a process into the group; what it begins is in it too.
func (g *group) add(pid int) error {
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600); err != nil {
			return fmt.Errorf("bound the program: %w", err)
		}
	}
	return nil
}

// hits says how often the limits of memory and of processes were met.
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

// kill ends every process of the group, and those that they begin meanwhile.
func (g *group) kill() {
	for _, dir := range g.dirs {
		if g.v2 {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o600) // since Linux 5.14; the loop does it too
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

// remove takes the group away. The kernel may need a moment to let go of the
// last process.
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
