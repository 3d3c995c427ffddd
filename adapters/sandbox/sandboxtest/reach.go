//go:build linux

package sandboxtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/probe"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func try(t *testing.T, s sandbox.Sandbox, spec sandbox.Spec, tries probe.Tries) probe.Report {
	t.Helper()
	executable, err := os.Executable()
	stdtest.Must(t, err)
	if spec.Argv, err = probe.Argv(executable, tries); err != nil {
		t.Fatal(err)
	}
	spec.Readable = append(spec.Readable, executable)
	var out probe.Report
	stdtest.Must(t, json.Unmarshal([]byte(must(t, s, spec)), &out))
	return out
}

// Environment is SB1: a program has exactly the environment of its Spec, and nothing of the host's.
func Environment(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	canaries := []string{
		"OPENAI_API_KEY", "TELEGRAM_BOT_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "LD_PRELOAD", "LD_LIBRARY_PATH",
		"HOME", "GIT_ASKPASS", "http_proxy", "DBUS_SESSION_BUS_ADDRESS", "SMA_ANYTHING",
	}
	for i, name := range canaries {
		t.Setenv(name, fmt.Sprintf("/canary-%d", i))
	}
	w := newWorld(t)
	w.env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "EMPTY=", "TEXT=a b\nc=d 'e' \"f\" $g"}
	want := slices.Sorted(slices.Values(append(slices.Clone(w.env), "PWD="+w.work)))
	got := try(t, s, w.shell(""), probe.Tries{})
	slices.Sort(got.Env)
	stdtest.Diff(t, "environment", want, got.Env)
	if len(got.Files) > 0 {
		t.Errorf("open files of the host: %q", got.Files)
	}
	out := must(t, s, w.shell("env"))
	if strings.Contains(out, "canary") {
		t.Errorf("env shows a canary:\n%s", out)
	}
	if out := must(t, s, w.shell("cat /proc/*/environ 2>/dev/null || true")); strings.Contains(out, "canary") {
		t.Errorf("another process shows a canary:\n%s", out)
	}
}

// Reach is SB2: what is not granted can be neither read nor written.
func Reach(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	const secret = "secret"
	state := "work/.ship/chat/telegram-chat-2/messages/history.jsonl"
	tries := probe.Tries{
		Read: []string{
			w.write(t, state, secret), w.write(t, "work/ship.json", secret), w.write(t, "work/.env", secret), w.write(t, "home/.ssh/id_ed25519", secret),
			w.write(t, "other/Agent.md", secret), w.write(t, "work/deep/private/key", secret), filepath.Join(w.work, "link"), filepath.Join(w.work, "folder/.ssh/id_ed25519"),
			"/etc/shadow", "/etc/ssl/private", "/root", "/home", "/proc/1/environ", "/proc/1/root" + "/var/lib", "/var/lib", "/var/log", "/run", "/sys",
		},
		Write: []string{
			filepath.Join(w.dir, "new"), filepath.Join(w.dir, "other/Agent.md"), filepath.Join(w.dir, state), filepath.Join(w.work, ".ship/access.json"),
			filepath.Join(w.work, "ship.json"), filepath.Join(w.work, "new.env"), filepath.Join(w.work, "folder/new"), w.write(t, "read/only", "text"),
			filepath.Join(w.dir, "read/new"), filepath.Join(w.work, "part/fixed"), "/etc/passwd", "/etc/ld.so.preload", "/usr/bin/new", "/bin/sh", "/new",
			"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/dev/sda", "/dev/mem",
		},
		Works: []string{filepath.Join(w.work, "new"), filepath.Join(w.work, "deep/new"), "/tmp/new", "/dev/null", "/dev/shm/new"},
	}
	w.write(t, "work/part/fixed", "fixed")
	for name, target := range map[string]string{"link": filepath.Join(w.dir, "home/.ssh/id_ed25519"), "folder": filepath.Join(w.dir, "home")} {
		stdtest.Must(t, os.Symlink(target, filepath.Join(w.work, name)))
	}
	spec := w.shell("")
	spec.Readable = []string{filepath.Join(w.dir, "read"), filepath.Join(w.work, "part")}
	for _, name := range []string{".ship", "ship.json", ".env", "new.env", "deep/private"} {
		spec.Hidden = append(spec.Hidden, filepath.Join(w.work, name))
	}
	got := try(t, s, spec, tries)
	for _, broken := range got.Broken {
		t.Error(broken)
	}
	t.Logf("%d of %d targets refused", len(tries.Read)+len(tries.Write)-len(got.Broken), len(tries.Read)+len(tries.Write))
	if _, err := os.Lstat(filepath.Join(w.work, "new.env")); err == nil {
		t.Error("the place of a hidden file that does not exist was left behind")
	}
	if data, err := os.ReadFile(filepath.Join(w.dir, "read/only")); err != nil || string(data) != "text" {
		t.Errorf("a readable file = %q, %v", data, err)
	}
}

// listeners are servers of the host, with a counter of connections.
func listeners(t *testing.T, dir string) ([][2]string, *atomic.Int64) {
	t.Helper()
	came := &atomic.Int64{}
	var out [][2]string
	for _, at := range [][2]string{
		{"tcp4", "127.0.0.1:0"}, {"tcp4", "0.0.0.0:0"}, {"unix", filepath.Join(dir, "socket")}, {"unix", "@" + filepath.Base(dir)}, {"unixpacket", "@p" + filepath.Base(dir)},
	} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), at[0], at[1])
		stdtest.Must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				came.Add(1)
				_ = c.Close()
			}
		}()
		out = append(out, [2]string{at[0], l.Addr().String()})
	}
	udp, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp4", "127.0.0.1:0")
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = udp.Close() })
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 8)); err != nil {
				return
			}
			came.Add(1)
		}
	}()
	return append(out, [2]string{"udp4", udp.LocalAddr().String()}), came
}

// Network is SB3: nothing can be reached unless the network is granted, and abstract sockets not even then.
func Network(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	targets, came := listeners(t, w.dir)
	targets = append(
		targets, [2]string{"tcp", "169.254.169.254:80"}, [2]string{"udp", "169.254.169.254:53"}, [2]string{"tcp6", "[::1]:" + port(targets[1][1])}, [2]string{"udp", "8.8.8.8:53"},
	)
	own := targets[5] // datagrams to its own loopback can be sent, but reach nothing
	got := try(t, s, w.shell(""), probe.Tries{Dial: slices.Delete(slices.Clone(targets), 5, 6)})
	try(t, s, w.shell(""), probe.Tries{Dial: [][2]string{own}})
	for _, broken := range got.Broken {
		t.Error(broken)
	}
	if n := came.Load(); n != 0 {
		t.Errorf("%d connections came, want 0", n)
	}
	t.Logf("%d of %d targets refused", len(targets)-len(got.Broken), len(targets))
	if out := must(t, s, w.shell("cat /proc/net/dev")); strings.Count(out, ":") > 1 {
		t.Errorf("there are interfaces beside its own loopback:\n%s", out)
	}

	granted := w.shell("")
	granted.Network = true
	before := came.Load()
	got = try(t, s, granted, probe.Tries{Dial: [][2]string{targets[0], targets[2], targets[3], targets[4]}})
	want := []string{"tcp4 " + targets[0][1] + " can be reached"} // shows that the others could be reached in principle
	if box.ABI() < 6 {
		t.Logf("Landlock %d does not part abstract sockets", box.ABI())
	} else if diff := cmp.Diff(want, got.Broken); diff != "" {
		t.Errorf("with the network granted (-want +got):\n%s", diff)
	}
	faketest.Poll(t, "the granted connection comes", func() bool { return came.Load() > before })
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}

// Files tests what is visible and writable, and how it looks.
func Files(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	w.write(t, "read/a", "readable")
	w.write(t, "work/.env", "KEY=1")
	w.write(t, "work/.ship/x", "1")
	w.write(t, "work/run.sh", "echo evil")
	w.write(t, "work/.ship/skill/run.sh", "echo evil")
	spec := w.shell("echo made > made && mkdir d && mv made d/moved && cat " + w.dir + "/read/a && ls -a .ship && cat .env && ls -a . && sh run.sh && sh .ship/skill/run.sh && id -un && hostname")
	spec.Readable = []string{filepath.Join(w.dir, "read"), filepath.Join(w.dir, "absent")}
	spec.Hidden = []string{filepath.Join(w.work, ".ship"), filepath.Join(w.work, ".env")}
	spec.Pinned = []sandbox.Pin{
		{Path: filepath.Join(w.work, "run.sh"), Data: []byte("echo good\n")}, {Path: filepath.Join(w.work, ".ship/skill/run.sh"), Data: []byte("echo better\n")},
	}
	want := "readable.\n..\nskill\n.\n..\n.env\n.ship\nd\nrun.sh\ngood\nbetter\nsandbox\nsandbox\n"
	if got := must(t, s, spec); got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	if data, err := os.ReadFile(filepath.Join(w.work, "d/moved")); err != nil || string(data) != "made\n" {
		t.Errorf("what the program made = %q, %v", data, err)
	}
	if data, err := os.ReadFile(filepath.Join(w.work, "run.sh")); err != nil || string(data) != "echo evil" {
		t.Errorf("the pinned file outside = %q, %v", data, err)
	}

	link := filepath.Join(w.dir, "alias")
	stdtest.Must(t, os.Symlink(w.work, link))
	spec = w.shell("pwd; cat .env; echo x > d/y; echo x > z")
	spec.Dir, spec.Writable, spec.Readable = link, []string{link}, []string{filepath.Join(w.work, "d")}
	spec.Hidden = []string{filepath.Join(w.work, ".env")}
	r := run(t, s, spec)
	if r.out != link+"\n" || !strings.Contains(r.err, "Read-only") {
		t.Errorf("behind a link: %q, %q; want the folder's name and a read-only part", r.out, r.err)
	}
	if _, err := os.Stat(filepath.Join(w.work, "z")); err != nil {
		t.Errorf("what was made behind a link: %v", err)
	}
}

// Refused tests Specs that must be refused.
func Refused(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	stdtest.Must(t, os.Symlink(w.dir, filepath.Join(w.work, "out")))
	w.write(t, "work/.ship/x", "")
	tests := []struct {
		name   string
		change func(*sandbox.Spec)
		want   string
	}{
		{"no program", func(s *sandbox.Spec) { s.Argv = nil }, "no program"},
		{"a NUL", func(s *sandbox.Spec) { s.Argv = []string{"echo", "a\x00b"} }, "NUL"},
		{"no variable", func(s *sandbox.Spec) { s.Env = []string{"PATH"} }, "NAME=value"},
		{"a relative path", func(s *sandbox.Spec) { s.Writable = append(s.Writable, "x") }, "not absolute"},
		{"a folder that is not granted", func(s *sandbox.Spec) { s.Dir = "/home/x" }, "neither writable nor readable"},
		{"a hidden folder", func(s *sandbox.Spec) { s.Dir = filepath.Join(w.work, ".ship"); s.Hidden = []string{s.Dir} }, "is hidden"},
		{"nothing to write", func(s *sandbox.Spec) { s.Writable = append(s.Writable, filepath.Join(w.dir, "absent")) }, "no such file"},
		{"the root", func(s *sandbox.Spec) { s.Readable = []string{"/"} }, "granted to no program"},
		{"the kernel", func(s *sandbox.Spec) { s.Writable = append(s.Writable, "/proc/sys") }, "granted to no program"},
		{"a way out", func(s *sandbox.Spec) { s.Readable = []string{filepath.Join(w.work, "out")} }, "leads out of"},
		{"a pinned folder", func(s *sandbox.Spec) { s.Pinned = []sandbox.Pin{{Path: w.work}} }, "is not a file"},
	}
	for _, tt := range tests {
		spec := w.shell("true")
		tt.change(&spec)
		p, err := s.Start(t.Context(), spec)
		if err == nil {
			p.Kill()
			_, _ = p.Wait()
			t.Errorf("%s: it was started", tt.name)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// Streams tests input, output and exits of programs.
func Streams(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	spec := w.shell("cat; echo words >&2")
	spec.Stdin = bytes.NewReader(bytes.Repeat([]byte("x"), 1<<20))
	if r := run(t, s, spec); len(r.out) != 1<<20 || r.err != "words\n" {
		t.Errorf("%d bytes and %q came, want 1 MiB and words", len(r.out), r.err)
	}
	blocked, feed, err := os.Pipe()
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = blocked.Close(); _ = feed.Close() })
	spec = w.shell("echo done")
	spec.Stdin = struct{ *os.File }{blocked} // a reader that never ends
	if got := must(t, s, spec); got != "done\n" {
		t.Errorf("output = %q, want done", got)
	}
	tests := []struct {
		text string
		want sandbox.Exit
	}{
		{"exit 3", sandbox.Exit{Code: 3}},
		{"kill -TERM $$", sandbox.Exit{Code: -1, Signal: "SIGTERM"}},
		{"kill -KILL $$", sandbox.Exit{Code: -1, Signal: "SIGKILL"}},
		{"sleep 1000 & exit 0", sandbox.Exit{}},
	}
	for _, tt := range tests {
		if r := run(t, s, w.shell(tt.text)); r.failed != nil || r.exit != tt.want {
			t.Errorf("%s: %+v, %v; want %+v", tt.text, r.exit, r.failed, tt.want)
		}
	}
	spec = w.shell("")
	spec.Argv = []string{"no-such-program"}
	if r := run(t, s, spec); r.exit.Code != 127 || !strings.Contains(r.err, "no-such-program") {
		t.Errorf("a program that does not exist: %+v, %q; want 127 and its name", r.exit, r.err)
	}
}
