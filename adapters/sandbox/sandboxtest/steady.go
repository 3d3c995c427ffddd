//go:build linux

package sandboxtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// steadyTries are ways to replace read-only paths: the file a/b/fixed, the folder a/b/only, and .tool and x/y/z,
// which do not exist.
func steadyTries() map[string]string {
	return map[string]string{
		"write":                             "echo evil >a/b/fixed",
		"append":                            "echo evil >>a/b/fixed",
		"truncate":                          "truncate -s 0 a/b/fixed",
		"remove":                            "rm -f a/b/fixed",
		"remove all":                        "rm -rf a",
		"rename over":                       "echo evil >new; mv -f new a/b/fixed",
		"rename away":                       "mv a/b/fixed gone; echo evil >a/b/fixed",
		"move its folder":                   "mv a/b moved; mkdir a/b; echo evil >a/b/fixed",
		"move the folder of its folder":     "mv a moved; mkdir -p a/b; echo evil >a/b/fixed",
		"exchange its folder":               "mkdir -p new; echo evil >new/fixed; mv --exchange new a/b; mv -T new a/b",
		"exchange the outer folder":         "mkdir -p new/b; echo evil >new/b/fixed; mv --exchange new a; mv -T new a",
		"a link in the place of its folder": "mkdir -p new/b; echo evil >new/b/fixed; rm -rf a/b; rmdir a/b; ln -sfn ../new/b a/b; ln -sfn new a",
		"a hard link to it":                 "ln a/b/fixed name && echo evil >name",
		"a symbolic link to it":             "ln -s a/b/fixed name && echo evil >name",
		"through the process's root":        "echo evil >/proc/self/root$PWD/a/b/fixed; echo evil >/proc/self/cwd/a/b/fixed",
		"through an open folder":            "cd a/b; mv ../../a ../../moved; echo evil >fixed",
		"through dots":                      "echo evil >a/../a/b/./fixed",
		"change its mode":                   "chmod 777 a/b/fixed; echo evil >a/b/fixed",
		"unmount it":                        "umount a/b/fixed; umount -l a/b; umount a; echo evil >a/b/fixed",
		"in a namespace":                    "unshare -Urm sh -c 'umount a/b/fixed; umount -l a; echo evil >a/b/fixed'",
		"copy over it":                      "echo evil >new; cp -f new a/b/fixed; cp --remove-destination new a/b/fixed; install new a/b/fixed",
		"with tar":                          "mkdir -p n/a/b; echo evil >n/a/b/fixed; tar cf t.tar -C n a; tar xf t.tar --overwrite; tar xf t.tar --unlink-first --recursive-unlink",
		"make in the folder":                "echo evil >a/b/only/new; mkdir a/b/only/folder",
		"change in the folder":              "echo evil >a/b/only/file; rm -f a/b/only/file",
		"move the folder":                   "mv a/b/only gone; mkdir a/b/only; echo evil >a/b/only/new",
		"a link in the place of the folder": "rm -rf a/b/only; rmdir a/b/only; ln -sfn /tmp a/b/only",
		"make what is absent":               "echo evil >.tool",
		"make what is absent a folder":      "mkdir .tool; echo evil >.tool/settings.json",
		"write in what is absent":           "mkdir -p .tool/x; echo evil >.tool/settings.json",
		"move to what is absent":            "mkdir new; echo evil >new/settings.json; mv -T new .tool; mv new .tool",
		"exchange with what is absent":      "mkdir new; echo evil >new/settings.json; mv --exchange new .tool",
		"link to what is absent":            "rmdir .tool; ln -s /tmp .tool; ln -sfn /tmp .tool",
		"remove what is absent":             "rm -rf .tool; rmdir .tool; mkdir .tool; echo evil >.tool/settings.json",
		"make absent folders":               "mkdir -p x/y/z; echo evil >x/y/z/evil",
		"make the outer absent folder":      "rm -rf x; rmdir x; mkdir x; mkdir x/y; mkdir x/y/z; echo evil >x/y/z/evil",
		"from behind":                       "(for i in $(seq 300); do rmdir .tool; mkdir .tool; echo evil >.tool/settings.json; mv a moved; done) & for i in $(seq 300); do mv .tool gone; ln -s /tmp .tool; done; wait",
	}
}

// Steady is SB2: read-only paths and the folders that lead to them stay in place, and paths that do not exist cannot
// be created.
func Steady(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	for name, text := range steadyTries() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, "work/a/b/fixed", "good")
			w.write(t, "work/a/b/only/file", "good")
			w.write(t, "work/a/b/free", "free")
			before := w.steady(t)
			spec := w.shell("(" + text + ") >/dev/null 2>&1; echo free >a/b/more && mv a/b/more a/more && mkdir new2 && mv a/more new2/ && cat a/b/fixed a/b/only/file && ls -A .tool")
			for _, name := range []string{"a/b/fixed", "a/b/only", ".tool", "x/y/z"} {
				spec.Readable = append(spec.Readable, filepath.Join(w.work, name))
			}
			if got := must(t, s, spec); got != "goodgood" {
				t.Errorf("it reads %q", got)
			}
			if diff := cmp.Diff(before, w.steady(t)); diff != "" {
				t.Errorf("what may only be read (-before +after):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(w.work, "new2/more")); err != nil {
				t.Errorf("what may be written: %v", err)
			}
		})
	}
}

// Replaced is SB2: somebody outside of the sandbox replaces what a program may only read, which removes the mounts that
// keep it, or a file appears that must not. The program ends and has changed nothing.
func Replaced(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	replace := func(w world, name string) error {
		return os.Rename(w.write(t, "new", "good"), filepath.Join(w.work, name))
	}
	for name, x := range map[string]struct {
		inside  string
		outside func(w world) error
	}{
		"a file is renamed over":        {"until echo evil >a/b/fixed; do :; done", func(w world) error { return replace(w, "a/b/fixed") }},
		"its folder is renamed":         {"until echo evil >a/b/fixed; do mkdir -p a/b; done", func(w world) error { return os.Rename(filepath.Join(w.work, "a"), filepath.Join(w.work, "old")) }},
		"a folder is renamed":           {"until mkdir a/b/only; do :; done", func(w world) error { return os.Rename(filepath.Join(w.work, "a/b/only"), filepath.Join(w.work, "old")) }},
		"an absent one is made":         {"echo evil >a/b/absent; while :; do :; done", func(world) error { return nil }},
		"an absent one is moved there":  {"echo evil >x; mv x a/b/absent; while :; do :; done", func(world) error { return nil }},
		"an absent one is linked there": {"ln -s x a/b/absent; while :; do :; done", func(world) error { return nil }},
		"an absent one is made outside": {"while :; do :; done", func(w world) error { return replace(w, "a/b/absent") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, "work/a/b/fixed", "good")
			w.write(t, "work/a/b/only/file", "good")
			spec := w.shell("echo begun; (" + x.inside + ") 2>/dev/null")
			spec.Readable = []string{filepath.Join(w.work, "a/b/fixed"), filepath.Join(w.work, "a/b/only")}
			spec.Absent = []string{filepath.Join(w.work, "a/b/absent")}
			spec.Limits.Wall = 10 * time.Second
			p := begun(t, t.Context(), s, spec)
			stdtest.Must(t, x.outside(w))
			if exit, err := p.Wait(); !errors.Is(err, sandbox.ErrReplaced) {
				t.Errorf("it ended with %+v, %v; want ErrReplaced", exit, err)
			}
		})
	}
}

// Replacing is SB2: before the host gives the name of what a program may only read to another file, the program ends. It
// never has the new file without the mount that keeps it.
func Replacing(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	replacer, ok := s.(interface {
		Replace(path string, do func() error) error
	})
	if !ok {
		t.Fatal("it does not know when a file is replaced")
	}
	for range times(200, 20) {
		w := newWorld(t)
		fixed := w.write(t, "work/fixed", "good")
		spec := w.shell("echo begun; while :; do echo evil >fixed; done 2>/dev/null")
		spec.Readable = []string{fixed}
		p := begun(t, t.Context(), s, spec)
		other := begun(t, t.Context(), s, w.shell("echo begun; sleep 1000"))
		stdtest.Must(t, replacer.Replace(fixed, func() error { return os.Rename(w.write(t, "new", "better"), fixed) }))
		if exit, err := p.Wait(); !errors.Is(err, sandbox.ErrReplaced) {
			t.Errorf("it ended with %+v, %v; want ErrReplaced", exit, err)
		}
		if text, err := os.ReadFile(fixed); err != nil || string(text) != "better" { //nolint:gosec // a test's own file
			t.Fatalf("the new file is %q, %v", text, err)
		}
		other.Kill()
		if exit, err := other.Wait(); err != nil {
			t.Errorf("a program to which the file does not matter: %+v, %v", exit, err)
		}
	}
}

// Overlapping is SB2: a program runs on when another one ends that began before it and was kept from the same names,
// which do not exist. Afterwards nothing is left in their places.
func Overlapping(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	start := func(text string, names ...string) sandbox.Process {
		t.Helper()
		spec := w.shell("echo begun; " + text)
		for _, name := range names {
			spec.Readable = append(spec.Readable, filepath.Join(w.work, name))
		}
		return begun(t, t.Context(), s, spec)
	}
	first := start("sleep 1000", ".tool", ".store")
	second := start("until [ -e go ]; do sleep 0.05; done; ! mkdir .tool/x .store/config/x 2>/dev/null", ".tool", ".store/config", ".store/hooks")
	first.Kill()
	mustEnd(t, first, "")
	w.write(t, "work/go", "")
	if exit, err := second.Wait(); err != nil || exit != (sandbox.Exit{}) {
		t.Errorf("the second ended with %+v, %v", exit, err)
	}
	var both sync.WaitGroup // one begins when the other ends
	for range 2 {
		both.Go(func() {
			for range times(500, 50) {
				spec := w.shell("true")
				spec.Readable = []string{filepath.Join(w.work, ".tool"), filepath.Join(w.work, "x/y/z")}
				p, err := s.Start(t.Context(), spec)
				if err == nil {
					_, err = p.Wait()
				}
				if err != nil {
					t.Errorf("one of many: %v", err)
				}
			}
		})
	}
	both.Wait()
	left, err := os.ReadDir(w.work)
	if err != nil || len(left) != 1 {
		t.Errorf("left is %v, %v; want the file go", left, err)
	}
}

// steady is the read-only content as seen outside of the sandbox.
func (w world) steady(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, name := range []string{"a/b/fixed", "a/b/only", ".tool", "x"} {
		err := filepath.WalkDir(filepath.Join(w.work, name), func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			rel := strings.TrimPrefix(path, w.work)
			got[rel] = e.Type().String()
			if e.Type().IsRegular() {
				data, err := os.ReadFile(path) //nolint:gosec // a test's own file
				got[rel] += string(data)
				return err
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	return got
}
