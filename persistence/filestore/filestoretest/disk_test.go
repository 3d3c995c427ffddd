package filestoretest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

func open(t *testing.T, d *Disk, name string) vfs.File {
	t.Helper()
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE)
	stdtest.Must(t, err)
	return f
}

func write(t *testing.T, f vfs.File, text string, off int64) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), off)
	stdtest.Must(t, err)
}

// text is what a disk holds: "name=contents" of every file, sorted.
func text(t *testing.T, d *Disk) string {
	t.Helper()
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := d.ReadDir(dir)
		stdtest.Must(t, err)
		for _, e := range entries {
			name := dir + e.Name()
			if e.IsDir() {
				out = append(out, name+"/")
				walk(name + "/")
				continue
			}
			f, err := d.OpenFile(name, os.O_RDONLY)
			stdtest.Must(t, err)
			size, err := f.Size()
			stdtest.Must(t, err)
			b := make([]byte, size)
			if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			out = append(out, name+"="+strings.ReplaceAll(string(b), "\x00", "."))
		}
	}
	walk("/")
	return strings.Join(out, " ")
}

// after returns all states that a crash may leave.
func after(t *testing.T, d *Disk) []string {
	t.Helper()
	seen := map[string]bool{}
	for s := range d.CrashStates(10_000, 1) {
		seen[text(t, s)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestCrashStates(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(d *Disk)
		want []string
	}{
		{"a file nobody forced", func(d *Disk) { write(t, open(t, d, "/a"), "xy", 0) }, []string{"", "/a=", "/a=..", "/a=xy"}},
		{"forced, but not its name", func(d *Disk) {
			f := open(t, d, "/a")
			write(t, f, "xy", 0)
			stdtest.Must(t, f.Datasync())
		}, []string{"", "/a=xy"}},
		{"its name, but not forced", func(d *Disk) {
			write(t, open(t, d, "/a"), "xy", 0)
			stdtest.Must(t, d.SyncDir("/"))
		}, []string{"/a=", "/a=..", "/a=xy"}},
		{"appended", func(d *Disk) {
			f := open(t, d, "/a")
			write(t, f, "xy", 0)
			stdtest.Must(t, errors.Join(f.Datasync(), d.SyncDir("/")))
			write(t, f, "z", 2)
		}, []string{"/a=xy", "/a=xy.", "/a=xyz"}},
		{"cut and written again", func(d *Disk) {
			f := open(t, d, "/a")
			write(t, f, "xyz", 0)
			stdtest.Must(t, errors.Join(f.Datasync(), d.SyncDir("/"), f.Truncate(0)))
			write(t, f, "q", 0)
		}, []string{"/a=", "/a=.", "/a=q", "/a=xyz"}},
		{"renamed", func(d *Disk) {
			f := open(t, d, "/a")
			write(t, f, "1", 0)
			g := open(t, d, "/a.tmp")
			write(t, g, "2", 0)
			stdtest.Must(t, errors.Join(f.Datasync(), g.Datasync(), d.SyncDir("/"), d.Rename("/a.tmp", "/a")))
		}, []string{"/a=1 /a.tmp=2", "/a=2"}},
		{"a folder's name is above it", func(d *Disk) {
			stdtest.Must(t, d.Mkdir("/d"))
			open(t, d, "/d/a")
			stdtest.Must(t, d.SyncDir("/d"))
		}, []string{"", "/d/ /d/a="}},
		{"names in any order", func(d *Disk) {
			open(t, d, "/a")
			open(t, d, "/b")
		}, []string{"", "/a=", "/a= /b=", "/b="}},
		{"removed", func(d *Disk) {
			open(t, d, "/a")
			stdtest.Must(t, d.SyncDir("/"))
			stdtest.Must(t, d.Remove("/a"))
		}, []string{"", "/a="}},
		{"all forced", func(d *Disk) {
			stdtest.Must(t, d.Mkdir("/d"))
			f := open(t, d, "/d/a")
			write(t, f, "x", 0)
			stdtest.Must(t, errors.Join(f.Datasync(), d.SyncDir("/d"), d.SyncDir("/")))
		}, []string{"/d/ /d/a=x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := NewDisk()
			tc.do(d)
			stdtest.Diff(t, "states", tc.want, after(t, d))
		})
	}
}

// Pages are torn at sectors, and reach the disk in any order.
func TestTornPages(t *testing.T) {
	d := NewDisk()
	f := open(t, d, "/a")
	write(t, f, strings.Repeat("a", 2*pageSize), 0)
	stdtest.Must(t, errors.Join(f.Datasync(), d.SyncDir("/")))
	write(t, f, strings.Repeat("b", 2*pageSize), 0)
	seen := map[string]bool{}
	for s := range d.CrashStates(1000, 1) {
		_, got, _ := strings.Cut(text(t, s), "=")
		for n := range 2 * pageSize / sectorSize {
			part := got[n*sectorSize : (n+1)*sectorSize]
			if part != strings.Repeat(part[:1], sectorSize) {
				t.Fatalf("sector %d is torn", n)
			}
		}
		seen[got[:1]+got[pageSize-1:pageSize+1]+got[2*pageSize-1:]] = true
	}
	if len(seen) != 16 {
		t.Errorf("%d of 16 ways to begin and end both pages: %v", len(seen), seen)
	}
}

// A later fsync does not write what a failed one lost.
func TestFailedForce(t *testing.T) {
	d := NewDisk()
	f := open(t, d, "/a")
	write(t, f, strings.Repeat("a", pageSize), 0)
	stdtest.Must(t, errors.Join(f.Datasync(), d.SyncDir("/")))
	write(t, f, strings.Repeat("b", pageSize), pageSize)
	d.Fail(func(op Op) error {
		if op.Kind == OpDatasync {
			return syscall.EIO
		}
		return nil
	})
	if err := f.Datasync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want EIO", err)
	}
	d.Fail(nil)
	write(t, f, "c", 2*pageSize)
	stdtest.Must(t, f.Datasync())
	want := strings.Repeat("a", pageSize) + strings.Repeat(".", pageSize) + "c"
	if got := text(t, d.Crash(Nothing)); got != "/a="+want {
		t.Errorf("the lost page came back")
	}
	if got := text(t, d.Crash(Everything)); !strings.Contains(got, "bc") {
		t.Errorf("the lost page cannot have been written")
	}
	reread, ok := f.(interface{ Reread() error })
	if !ok {
		t.Fatal("the file cannot be read anew")
	}
	stdtest.Must(t, reread.Reread())
	if got := text(t, d); got != "/a="+want {
		t.Errorf("reading anew shows what was lost")
	}
	for s := range d.CrashStates(10, 1) {
		if got := text(t, s); got != "/a="+want {
			t.Errorf("a crash afterwards shows something else")
		}
	}
}

func TestKillKeepsWhatWasWritten(t *testing.T) {
	d := NewDisk()
	f := open(t, d, "/a")
	write(t, f, "x", 0)
	k := d.Kill()
	d.PowerOff()
	if _, err := f.WriteAt([]byte("y"), 0); !errors.Is(err, errOff) {
		t.Errorf("a write after the end: %v", err)
	}
	if got := text(t, k); got != "/a=x" {
		t.Errorf("got %q", got)
	}
	stdtest.Diff(t, "states", []string{"", "/a=", "/a=.", "/a=x"}, after(t, k))
}

func TestShortWrite(t *testing.T) {
	d := NewDisk()
	f := open(t, d, "/a")
	d.Fail(func(Op) error { return &Short{N: 2, Err: syscall.ENOSPC} })
	if n, err := f.WriteAt([]byte("xyz"), 0); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	d.Fail(func(Op) error { return &Short{N: 1} })
	if n, err := f.WriteAt([]byte("q"), 2); n != 1 || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	d.Fail(nil)
	if got := text(t, d); got != "/a=xyq" {
		t.Errorf("got %q", got)
	}
}

// The same choices give the same disk, and a store opens on each.
func TestSameSeedSameDisk(t *testing.T) {
	states := func() (sums []uint64, trace string) {
		d := NewDisk()
		d.After(func(op Op) { trace += fmt.Sprintln(op) })
		s, err := Open(d, filestore.Options{})
		stdtest.Must(t, err)
		c, err := s.OpenChat(t.Context(), "test-chat-1")
		stdtest.Must(t, err)
		stdtest.Must(t, c.Wake(t.Context()))
		for s := range d.CrashStates(20, 7) {
			sums = append(sums, s.Sum())
		}
		random := rand.New(rand.NewPCG(1, 2))
		sums = append(sums, d.Crash(random.IntN).Sum())
		return sums, trace
	}
	sums, trace := states()
	again, trace2 := states()
	if !slices.Equal(sums, again) || trace != trace2 {
		t.Error("two lives with the same choices differ")
	}
}

func TestLock(t *testing.T) {
	d := NewDisk()
	s, err := Open(d, filestore.Options{})
	stdtest.Must(t, err)
	if _, err := Open(d, filestore.Options{}); err == nil {
		t.Error("two stores on one disk")
	}
	k, err := Open(d.Kill(), filestore.Options{})
	stdtest.Must(t, err)
	stdtest.Must(t, errors.Join(k.Close(), s.Close()))
	again, err := Open(d, filestore.Options{})
	stdtest.Must(t, err)
	stdtest.Must(t, again.Close())
}
