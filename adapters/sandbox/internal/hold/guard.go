//go:build linux

package hold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Pin is a file with the content that the program must find.
type Pin struct {
	Path string // in the sandbox
	Data []byte
}

// The steps that are reported to [Watch].Step, for tests: a change at any of them must be detected.
const (
	StepMet      = "met"      // everything is mounted, and nothing of the program runs yet
	StepGo       = "go"       // the program is about to be executed
	StepAsked    = "asked"    // a call was received, and nothing was checked yet
	StepAnswered = "answered" // everything was found in place, and the call will continue
)

// Watch is what a guard needs from the host.
type Watch struct {
	Pins    []Pin
	System  []string                // folders in which nothing can be pinned or changed
	Changed func() bool             // reports whether the name of a pin was ever changed
	Lost    func()                  // called once, when the program must not continue
	Step    func(step, name string) // only in tests
}

// Pair makes the sockets for Install and Meet.
func Pair() (host, inside *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	host, inside = os.NewFile(uintptr(fds[0]), "pins"), os.NewFile(uintptr(fds[1]), "pins")
	if err := unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("setsockopt", err), host.Close(), inside.Close())
	}
	return host, inside, nil
}

// place is the location of a pin.
type place struct {
	path     string
	dev, ino uint64
	file     *os.File // kept open, so that the inode number is not reused
}

// Guard watches one program.
type Guard struct {
	watch    Watch
	conn     *net.UnixConn
	pid      int // of the process that becomes the program
	listener int
	root     *os.File // of the sandbox
	places   []place
	names    map[string]bool // file names of the places
	begun    bool
	lost     atomic.Bool
	done     chan struct{}  // closed by the loop
	held     sync.WaitGroup // calls that are being traced
}

// Meet waits for the process that calls Install, and checks that every pin is in place. It takes over the socket.
// After an error, nothing of the program has run.
func Meet(ctx context.Context, socket *os.File, w Watch) (_ *Guard, err error) {
	conn, err := net.FileConn(socket)
	_ = socket.Close() // the connection has a copy
	if err != nil {
		return nil, fmt.Errorf("connect to the program: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok { // Unreachable: it is one of Pair's
		return nil, errors.Join(errors.New("connect to the program: not a local socket"), conn.Close())
	}
	g := &Guard{watch: w, conn: unixConn, listener: -1, names: map[string]bool{}, done: make(chan struct{})}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends the wait
	defer stop()
	if err := g.listen(); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	root, err := os.OpenFile(fmt.Sprintf("/proc/%d/root", g.pid), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("look into the sandbox: %w", err)
	}
	g.root = root
	for _, p := range w.Pins {
		if err := g.place(p); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// listen receives the listener of the filter.
func (g *Guard) listen() error {
	word, control := make([]byte, 512), make([]byte, 256)
	n, c, _, _, err := g.conn.ReadMsgUnix(word, control)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return fmt.Errorf("connect to the program: what was to start it ended: %w", err)
	}
	if word[0] != saysReady {
		return fmt.Errorf("%w: %s", ErrUnsupported, word[1:n])
	}
	parts, err := unix.ParseSocketControlMessage(control[:c])
	if err != nil {
		return fmt.Errorf("connect to the program: %w", err)
	}
	for _, m := range parts {
		if cred, err := unix.ParseUnixCredentials(&m); err == nil {
			g.pid = int(cred.Pid)
		}
		if fds, err := unix.ParseUnixRights(&m); err == nil && len(fds) == 1 {
			unix.CloseOnExec(fds[0])
			g.listener = fds[0]
		}
	}
	if g.pid == 0 || g.listener < 0 { // Unreachable: Install sends both
		return errors.New("connect to the program: it did not identify itself")
	}
	return nil
}

// Pid is the process that becomes or starts the program.
func (g *Guard) Pid() int { return g.pid }

// Go lets the program be executed and starts to watch it.
func (g *Guard) Go() error {
	g.step(StepMet, "")
	if !g.intact() {
		g.lost.Store(true)
		return ErrLost
	}
	g.begun = true
	go g.loop()
	g.step(StepGo, "")
	if _, err := g.conn.Write([]byte{saysGo}); err != nil {
		return fmt.Errorf("let the program go: %w", err)
	}
	return nil
}

// ErrLost is wrapped by errors of Meet and Go if a pin is not in place.
var ErrLost = errors.New("a pinned file is not in its place")

// End waits until nothing is being watched, and reports whether the program was killed, or not started, because of a
// pin. The program must have ended. End may be called on a nil Guard.
func (g *Guard) End() (lost bool) {
	if g == nil {
		return false
	}
	if g.begun {
		<-g.done
		g.held.Wait()
	}
	g.close()
	return g.lost.Load()
}

func (g *Guard) close() {
	_ = g.conn.Close() // no data is pending
	if g.listener >= 0 {
		_ = unix.Close(g.listener) // nothing was written
		g.listener = -1
	}
	if g.root != nil {
		_ = g.root.Close() // it was only checked
	}
	for _, p := range g.places {
		_ = p.file.Close() // opened for reading only
	}
}

func (g *Guard) step(step, name string) {
	if g.watch.Step != nil {
		g.watch.Step(step, name)
	}
}

// lose kills the program.
func (g *Guard) lose() {
	if !g.lost.Swap(true) {
		g.watch.Lost()
	}
}

// place finds a pin and records it. The file must be in the root file system of the sandbox, which is in memory and
// only used by it, and must have the right content, because pins move along when names are exchanged.
func (g *Guard) place(p Pin) error {
	lost := func(err error) error { return errors.Join(ErrLost, err) }
	fd, err := unix.Openat2(int(g.root.Fd()), strings.TrimPrefix(p.Path, "/"), &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return lost(&os.PathError{Op: "open", Path: p.Path, Err: err})
	}
	f := os.NewFile(uintptr(fd), p.Path)
	var root, st unix.Stat_t
	if err := errors.Join(unix.Fstat(int(g.root.Fd()), &root), unix.Fstat(fd, &st)); err != nil {
		return errors.Join(err, f.Close())
	}
	if st.Dev != root.Dev || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != int64(len(p.Data)) || !holds(f, p.Data) {
		return lost(f.Close())
	}
	g.places = append(g.places, place{path: p.Path, dev: uint64(st.Dev), ino: st.Ino, file: f}) //nolint:unconvert // the types differ between machines
	g.names[path.Base(p.Path)] = true
	return nil
}

// holds reports whether a file has this content.
func holds(f *os.File, data []byte) bool {
	buf := make([]byte, 64<<10)
	for len(data) > 0 {
		n, err := f.Read(buf[:min(len(buf), len(data))])
		if err != nil || string(buf[:n]) != string(data[:n]) {
			return false
		}
		data = data[n:]
	}
	return true
}

// intact reports whether every name has always led to its pin. It checks the names first and then the recorded
// changes, see the package comment.
func (g *Guard) intact() bool {
	for _, p := range g.places {
		var st unix.Stat_t
		err := unix.Fstatat(int(g.root.Fd()), strings.TrimPrefix(p.path, "/"), &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil || uint64(st.Dev) != p.dev || st.Ino != p.ino { //nolint:unconvert // the types differ between machines
			return false
		}
	}
	return !g.lost.Load() && !g.watch.Changed()
}
