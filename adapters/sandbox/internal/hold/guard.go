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

// Pin is a file as the program has to find it.
type Pin struct {
	Path string // in the sandbox
	Data []byte
}

// The moments that a [Watch] is told of, for tests: what changes then must not do harm.
const (
	StepMet      = "met"      // everything is laid, nothing of the program runs
	StepGo       = "go"       // the program is about to be executed
	StepAsked    = "asked"    // a call is shown, nothing was looked at
	StepAnswered = "answered" // everything was found in place, the call goes on now
)

// Watch is what a guard needs to know of the host.
type Watch struct {
	Pins    []Pin
	System  []string                // folders in which nothing can be pinned or changed
	Changed func() bool             // whether one of the pins' names was ever changed
	Lost    func()                  // called once, when the program must not go on
	Step    func(step, name string) // nil, but in tests
}

// Pair makes what Install and Meet talk by.
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

// place is where a pin lies.
type place struct {
	path     string
	dev, ino uint64
	file     *os.File // holds it, so that its number is nobody else's
}

// Guard watches one program.
type Guard struct {
	watch    Watch
	conn     *net.UnixConn
	pid      int // of what becomes the program
	listener int
	root     *os.File // the sandbox's
	places   []place
	names    map[string]bool // the last part of each place
	begun    bool
	lost     atomic.Bool
	done     chan struct{}  // closed by the loop
	held     sync.WaitGroup // calls that are held
}

// Meet waits for what calls Install, and looks whether every pin lies where it
// has to. It takes the socket over. An error means that nothing of the program
// has run.
func Meet(ctx context.Context, socket *os.File, w Watch) (_ *Guard, err error) {
	conn, err := net.FileConn(socket)
	_ = socket.Close() // the connection is a copy
	if err != nil {
		return nil, fmt.Errorf("meet the program: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok { // Unreachable: it is one of Pair's
		return nil, errors.Join(errors.New("meet the program: not a local socket"), conn.Close())
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

// listen takes the filter's listener.
func (g *Guard) listen() error {
	word, control := make([]byte, 512), make([]byte, 256)
	n, c, _, _, err := g.conn.ReadMsgUnix(word, control)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return fmt.Errorf("meet the program: what was to start it ended: %w", err)
	}
	if word[0] != saysReady {
		return fmt.Errorf("%w: %s", ErrUnsupported, word[1:n])
	}
	parts, err := unix.ParseSocketControlMessage(control[:c])
	if err != nil {
		return fmt.Errorf("meet the program: %w", err)
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
		return errors.New("meet the program: it did not say who it is")
	}
	return nil
}

// Pid is the process that becomes the program or starts it.
func (g *Guard) Pid() int { return g.pid }

// Go lets the program be executed, under watch from now on.
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

// ErrLost is wrapped by errors of Meet and Go when a pin is not where it was laid.
var ErrLost = errors.New("a pin is not where it was laid")

// End waits until nothing is watched any longer, and says whether the program was
// ended, or not begun, because of a pin. The program has to be gone. Nobody's guard
// may be ended too.
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
	_ = g.conn.Close() // nothing is unsent
	if g.listener >= 0 {
		_ = unix.Close(g.listener) // nothing was written
		g.listener = -1
	}
	if g.root != nil {
		_ = g.root.Close() // it was only looked at
	}
	for _, p := range g.places {
		_ = p.file.Close() // it was only read
	}
}

func (g *Guard) step(step, name string) {
	if g.watch.Step != nil {
		g.watch.Step(step, name)
	}
}

// lose ends the program.
func (g *Guard) lose() {
	if !g.lost.Swap(true) {
		g.watch.Lost()
	}
}

// place looks for a pin and remembers it. It is one if it lies in the memory that
// is the sandbox's root, which is nobody else's, and has the bytes: pins move with
// names that are exchanged.
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

// holds says whether a file has these bytes.
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

// intact says whether every name has led to its pin ever since: first the names,
// then the record, see the package's comment.
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
