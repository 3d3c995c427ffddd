//go:build linux

package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The checked content and its replacement. Both print at once which one they are.
const (
	goodScript = "#!/bin/sh\necho good\n"
	evilScript = "#!/bin/sh\necho evil\n"
)

// pinned is the pinned file of one round, in its own folder.
type pinned struct {
	dir, path string // work/p and work/p/run
	aside     string // work/aside/run, where work/aside is a copy of p
}

// newPinned recreates the folders of a round.
func newPinned(t *testing.T, w world, good, evil []byte) pinned {
	t.Helper()
	p := pinned{dir: filepath.Join(w.work, "p"), aside: filepath.Join(w.work, "aside/run")}
	p.path = filepath.Join(p.dir, "run")
	for _, dir := range []string{p.dir, filepath.Dir(p.aside), filepath.Join(w.work, "away")} {
		stdtest.Must(t, errors.Join(os.RemoveAll(dir), os.RemoveAll(dir)))
	}
	for path, data := range map[string][]byte{p.path: good, p.aside: evil} {
		stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		stdtest.Must(t, os.WriteFile(path, data, 0o700)) //nolint:gosec // it is run
	}
	return p
}

// change is what somebody outside does to a pinned file. It may be repeated.
type change struct {
	name string
	do   func(pinned) error
}

func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// changes are all ways to take a name from a file, which also removes what is mounted on it.
func changes() []change {
	away := func(p pinned) string { return filepath.Join(filepath.Dir(p.dir), "away") }
	return []change{
		{"renamed over", func(p pinned) error { return os.Rename(p.aside, p.path) }},
		{"exchanged", func(p pinned) error { return exchange(p.aside, p.path) }},
		{"exchanged and back", func(p pinned) error {
			return errors.Join(exchange(p.aside, p.path), exchange(p.aside, p.path))
		}},
		{"removed and linked", func(p pinned) error { return errors.Join(os.Remove(p.path), os.Link(p.aside, p.path)) }},
		{"a link renamed over", func(p pinned) error {
			return errors.Join(os.Symlink(p.aside, p.path+".new"), os.Rename(p.path+".new", p.path))
		}},
		{"made a folder", func(p pinned) error {
			err := errors.Join(os.Remove(p.path), os.Mkdir(p.path, 0o700))
			for _, name := range []string{"__main__.py", "index.js", "run"} { // files that interpreters look for in a folder
				err = errors.Join(err, os.Link(p.aside, filepath.Join(p.path, name)))
			}
			return err
		}},
		{"its folder replaced", func(p pinned) error {
			return errors.Join(os.Rename(p.dir, away(p)), os.Rename(filepath.Dir(p.aside), p.dir))
		}},
		{"its folder exchanged", func(p pinned) error { return exchange(filepath.Dir(p.aside), p.dir) }},
		{"its folder exchanged and away", func(p pinned) error {
			return errors.Join(exchange(filepath.Dir(p.aside), p.dir), os.Rename(p.dir, away(p)))
		}},
	}
}

// way is a way to run a pinned file.
type way struct {
	name       string
	argv       func(p pinned) []string
	good, evil []byte
	quiet      bool // the good version prints nothing
}

// ways are the ways that this machine supports.
func ways(t *testing.T) []way {
	t.Helper()
	shell := func(text string) func(pinned) []string {
		return func(pinned) []string { return []string{"sh", "-c", text} }
	}
	script := func(name string, argv func(pinned) []string) way {
		return way{name: name, argv: argv, good: []byte(goodScript), evil: []byte(evilScript)}
	}
	out := []way{
		script("sh script", func(p pinned) []string { return []string{"sh", p.path} }),
		script("./script", func(p pinned) []string { return []string{p.path} }),
		script("sh -c ./script", shell("cd p && ./run")),
		script("sh in sh in sh", shell("sh -c 'cd p; sh -c \"sh run\"'")),
		script("sourced", shell("cd p; . ./run")),
		script("read from stdin", shell("cat p/run | sh")),
	}
	if _, err := os.Stat("/bin/bash"); err == nil {
		out = append(out, script("bash", func(pinned) []string { return []string{"/bin/bash", "-c", "cd p && bash run"} }))
	}
	for _, in := range [][3]string{{"/usr/bin/python3", "print('good')\n", "print('evil')\n"}, {"/usr/bin/node", "console.log('good')\n", "console.log('evil')\n"}} {
		if _, err := os.Stat(in[0]); err == nil {
			argv := func(p pinned) []string { return []string{in[0], p.path} }
			out = append(out, way{name: in[0], argv: argv, good: []byte(in[1]), evil: []byte(in[2])})
		}
	}
	quiet, err := os.ReadFile("/usr/bin/true")
	loud, err2 := os.ReadFile("/usr/bin/echo")
	if err == nil && err2 == nil {
		out = append(out,
			way{name: "binary", argv: func(p pinned) []string { return []string{p.path, "evil"} }, good: quiet, evil: loud, quiet: true},
			way{name: "binary in a shell", argv: shell("p/run evil; exit $?"), good: quiet, evil: loud, quiet: true},
			// The kind of file changes.
			way{name: "script that turns binary", argv: func(p pinned) []string { return []string{p.path, "evil"} }, good: []byte(goodScript), evil: loud},
		)
	}
	executable, err := os.Executable()
	stdtest.Must(t, err)
	return append(out, script("executed by a thread", func(p pinned) []string { return []string{executable, threadName, p.path} }))
}

// threadName is the first argument of a test binary that executes another program from a thread that is not its
// first.
const threadName = "sandboxtest-thread"

// execFromThread first opens the file from many threads at once, while the runtime's signals interrupt them as in
// every Go program.
func execFromThread(path string) int {
	runtime.LockOSThread() // keeps the first thread here
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			runtime.LockOSThread()
			for range 20 {
				runtime.GC()
				f, err := os.Open(path) //nolint:gosec // opening it is what this is for
				if err != nil {
					_, _ = fmt.Fprintln(os.Stderr, err) // the test reads it
					return
				}
				_ = f.Close() // nothing was read
			}
		})
	}
	wg.Wait()
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		runtime.LockOSThread()                                                           // which makes it another thread
		_, _ = fmt.Fprintln(os.Stderr, syscall.Exec(path, []string{path}, os.Environ())) //nolint:gosec // running it is what this is for
	}()
	<-failed
	return 1
}

func (a way) spec(t *testing.T, w world, p pinned) sandbox.Spec {
	t.Helper()
	spec := w.shell("")
	spec.Argv = a.argv(p)
	executable, err := os.Executable()
	stdtest.Must(t, err)
	spec.Readable = []string{executable}
	spec.Pinned = []sandbox.Pin{{Path: p.path, Data: a.good}}
	return spec
}

// evaluate fails the test if a run with this result executed other content, or succeeded without executing the pinned
// content.
func (a way) evaluate(t *testing.T, out string, exit sandbox.Exit, err error) {
	t.Helper()
	want := "good\n"
	if a.quiet {
		want = ""
	}
	switch {
	case strings.Contains(out, "evil"):
		t.Errorf("%s: other bytes were run: %q, %+v, %v", a.name, out, exit, err)
	case err == nil && (out != want || exit.Code != 0):
		t.Errorf("%s: it ended well with %q, %+v; want %q", a.name, out, exit, want)
	case err != nil && !errors.Is(err, sandbox.ErrReplaced):
		t.Errorf("%s: %v, want ErrReplaced", a.name, err)
	}
}

// Pins is AP7: a program finds the pinned content whatever is written to the file meanwhile, and never other content
// whatever is done to its name.
func Pins(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	t.Run("every way", func(t *testing.T) {
		for _, a := range ways(t) {
			p := newPinned(t, w, a.good, a.evil)
			r := run(t, s, a.spec(t, w, p))
			if a.evaluate(t, r.out, r.exit, r.failed); r.failed != nil || r.err != "" {
				t.Errorf("%s: %v, though nothing was changed\n%s", a.name, r.failed, r.err)
			}
		}
	})
	t.Run("written to", func(t *testing.T) { pinsWritten(t, s, w) })
	for _, c := range changes() {
		t.Run(c.name, func(t *testing.T) { pinsRaced(t, s, w, c) })
	}
}

// pinsWritten tests that writing to the file has no effect on programs.
func pinsWritten(t *testing.T, s sandbox.Sandbox, w world) {
	t.Helper()
	a := ways(t)[0]
	p := newPinned(t, w, a.good, a.evil)
	stop, mutated := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				mutated <- n
				return
			default:
				_ = os.WriteFile(p.path, a.evil, 0o600) // errors do not matter
			}
		}
	}()
	rounds := times(1000, 10)
	for range rounds {
		r := run(t, s, a.spec(t, w, p))
		if a.evaluate(t, r.out, r.exit, r.failed); r.failed != nil {
			t.Errorf("%v, though no name was changed", r.failed)
		}
	}
	close(stop)
	t.Logf("%d runs with the pinned bytes; %d mutations", rounds, <-mutated)
}

// pinsRaced changes names at random times while programs start and run.
func pinsRaced(t *testing.T, s sandbox.Sandbox, w world, c change) {
	t.Helper()
	all := ways(t)
	var good, ended, refused int
	began := time.Now()
	p := newPinned(t, w, all[0].good, all[0].evil)
	run(t, s, all[0].spec(t, w, p))
	took := time.Since(began) // approximate duration of an undisturbed run
	first := rand.N(len(all)) // short tests use different ones each time
	for i := range times(1000, 3) {
		a := all[(first+i)%len(all)]
		p := newPinned(t, w, a.good, a.evil)
		stop, changed := make(chan struct{}), make(chan struct{})
		after := time.NewTimer(rand.N(2*took + 1))
		go func() {
			defer close(changed)
			defer after.Stop()
			select {
			case <-after.C:
				_ = c.do(p) // the files may be gone already
			case <-stop:
			}
		}()
		var out bytes.Buffer
		spec := a.spec(t, w, p)
		spec.Stdout = &out
		began := time.Now()
		proc, err := s.Start(t.Context(), spec)
		if err != nil { // nothing was started
			refused++
		} else {
			exit, err := proc.Wait()
			a.evaluate(t, out.String(), exit, err)
			if ended++; err == nil {
				good, ended = good+1, ended-1
				took = (7*took + time.Since(began)) / 8
			}
		}
		close(stop)
		<-changed
	}
	t.Logf("%d runs with the pinned bytes, %d killed, %d not begun", good, ended, refused)
}

// PinsAt makes every change at each step of a run: changed content is never executed, and no such run succeeds.
func PinsAt(t *testing.T, create func(step func(step, name string)) Checker) {
	t.Helper()
	w := newWorld(t)
	all := ways(t)
	i := 0
	for _, at := range []string{"watched", hold.StepMet, hold.StepGo, hold.StepAsked, hold.StepAnswered} {
		for _, c := range changes() {
			// In long tests, every step is combined with every way.
			for range times(len(all), 1) {
				a := all[i%len(all)]
				i++
				p := newPinned(t, w, a.good, a.evil)
				var once sync.Once
				s := create(func(step, name string) {
					if step == at && (name == "" || filepath.Base(name) == "run") {
						once.Do(func() {
							if err := c.do(p); err != nil {
								t.Errorf("%s at %q: %v", c.name, at, err)
							}
						})
					}
				})
				var out bytes.Buffer
				spec := a.spec(t, w, p)
				spec.Stdout = &out
				var exit sandbox.Exit
				proc, err := s.Start(t.Context(), spec)
				if err == nil {
					exit, err = proc.Wait()
				}
				a.evaluate(t, out.String(), exit, err)
				if !errors.Is(err, sandbox.ErrReplaced) {
					t.Errorf("%s, %s at %q: %+v, %v; want ErrReplaced", a.name, c.name, at, exit, err)
				}
			}
		}
	}
	t.Logf("%d changes, each at its moment", i)
}
