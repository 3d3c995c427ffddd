//go:build linux

package box

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch detects that a name on which something is mounted is given to another file, or that an absent one is made. The
// kernel removes a mount when somebody outside of the program's mount namespace renames or removes its mount point; the
// program would then see the file behind it. The host's files are watched from before the start, so that no program
// that may have seen it ends successfully.
type watch struct {
	file  *os.File
	names map[int32]map[string]bool // by watched folder
	paths map[string]bool           // all of them, with their folders
	raw   syscall.RawConn           // of file
	done  chan struct{}             // closed by run
	lost  func()                    // called at the first loss, by whoever reads the event

	mu   sync.Mutex // held while reading, so that events which were read are also processed
	gone bool
}

// newWatch watches the names of a plan. It returns nil if there are none.
func newWatch(p *Plan) (*watch, error) {
	type place struct{ dir, name string }
	places, paths := map[place]bool{}, map[string]bool{}
	for _, path := range p.watched {
		for _, b := range p.Binds {
			if !b.Granted || !within(path, b.Source) || path == b.Source {
				continue
			}
			for at := path; at != b.Source; at = filepath.Dir(at) {
				places[place{filepath.Dir(at), filepath.Base(at)}], paths[at] = true, true
			}
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch hidden and pinned files: %w", err)
	}
	w := &watch{file: os.NewFile(uintptr(fd), "inotify"), names: map[int32]map[string]bool{}, paths: paths, done: make(chan struct{})}
	if w.raw, err = w.file.SyscallConn(); err != nil { // Unreachable: the file is open
		_ = w.file.Close() // nothing was read
		return nil, fmt.Errorf("watch hidden and pinned files: %w", err)
	}
	for at := range places {
		const events = unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_CREATE | unix.IN_ONLYDIR
		wd, err := unix.InotifyAddWatch(fd, at.dir, events)
		if err != nil {
			_ = w.file.Close() // nothing was read
			return nil, fmt.Errorf("watch hidden and pinned files: %w", &os.PathError{Op: "watch", Path: at.dir, Err: err})
		}
		if w.names[int32(wd)] == nil { //nolint:gosec // the kernel counts from 1
			w.names[int32(wd)] = map[string]bool{} //nolint:gosec // as above
		}
		w.names[int32(wd)][at.name] = true //nolint:gosec // as above
	}
	return w, nil
}

// run reads events until end is called. lost is called at the first loss.
func (w *watch) run(lost func()) {
	if w == nil {
		return
	}
	w.lost = lost
	go func() {
		defer close(w.done)
		_ = w.raw.Read(func(fd uintptr) bool { // until end sets a deadline
			w.drain(int(fd)) //nolint:gosec // a descriptor
			return false
		})
	}()
}

// lose ends the program before the name of a path is given to another file. It returns false if the program may stay.
func (w *watch) lose(path string) bool {
	if w == nil || !w.paths[path] {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.gone {
		w.gone = true
		w.lost()
	}
	return true
}

// changed reports whether anything was lost so far. The kernel queues the event of a change before it unlocks the
// folder of the change.
func (w *watch) changed() bool {
	if w == nil {
		return false
	}
	err := w.raw.Control(func(fd uintptr) { w.drain(int(fd)) }) //nolint:gosec // a descriptor
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone || err != nil
}

// end stops watching and reports whether anything was lost.
func (w *watch) end() bool {
	if w == nil {
		return false
	}
	_ = w.file.SetReadDeadline(time.Unix(1, 0)) // an inotify descriptor supports deadlines
	<-w.done
	gone := w.changed()
	_ = w.file.Close() // nothing was written
	return gone
}

// drain reads all pending events.
func (w *watch) drain(fd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	buf := make([]byte, 1<<14)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		w.take(buf[:n])
	}
}

// take processes events.
func (w *watch) take(buf []byte) {
	for len(buf) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(buf)) //nolint:gosec // it is signed
		mask := binary.NativeEndian.Uint32(buf[4:])
		size := int(binary.NativeEndian.Uint32(buf[12:]))
		if len(buf) < unix.SizeofInotifyEvent+size {
			return
		}
		name := strings.TrimRight(string(buf[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+size]), "\x00")
		buf = buf[unix.SizeofInotifyEvent+size:]
		if !w.gone && (mask&unix.IN_Q_OVERFLOW != 0 || w.names[wd][name]) {
			w.gone = true
			w.lost()
		}
	}
}
