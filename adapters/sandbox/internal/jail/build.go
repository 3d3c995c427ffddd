//go:build linux

package jail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
)

const (
	readOnly = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	writable = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	device   = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
)

// tree is a mount of the host, open and not attached yet.
type tree struct {
	fd   int
	dest string
	dir  bool
}

// build sets up what the program sees in a fresh root, and leaves the host's root.
func build(c config) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate from the host's mounts: %w", err)
	}
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return fmt.Errorf("name the host: %w", err)
	}
	if err := loopback(c.Network); err != nil {
		return err
	}
	binds, err := holdBinds(c.Plan.Binds)
	if err != nil {
		return err
	}
	own, err := holdBinds(c.Plan.Own)
	if err != nil {
		return err
	}
	devices, err := holdDevices()
	if err != nil {
		return err
	}
	const base = "/tmp" // everything below it is open already
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=64m"); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	r := root(base)
	below, above := c.Plan.Layers()
	for _, step := range []func() error{
		r.proc,
		func() error { return r.dev(devices) },
		func() error { return r.tmpfs("/tmp", "mode=1777,size="+strconv.FormatInt(c.TmpSize, 10)) },
		func() error { return r.system(c.Plan) },
		func() error { return r.attachAll(binds) },
		func() error { return r.mask(below) },
		func() error { return r.attachAll(own) },
		func() error { return r.mask(above) },
		func() error { return r.pin(c.Plan) },
		r.enter,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// loopback brings up the loopback interface of a new network namespace.
func loopback(hosts bool) error {
	if hosts {
		return nil
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	defer func() { _ = unix.Close(s) }() // nothing was sent
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	r.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r); err != nil {
		return fmt.Errorf("bring up the loopback: %w", err)
	}
	return nil
}

// holdBinds opens the sources of binds before anything covers them.
func holdBinds(binds []box.Bind) ([]tree, error) {
	out := make([]tree, 0, len(binds))
	for _, b := range binds {
		f, err := open(b)
		if err != nil {
			return nil, err
		}
		attr := uint64(readOnly)
		if b.Writable {
			attr = writable
		}
		t, err := clone(int(f.Fd()), "", attr)
		if err != nil {
			return nil, fmt.Errorf("hold %s: %w", b.Source, err)
		}
		_ = f.Close() // it was only checked
		out = append(out, tree{fd: t, dest: b.Dest, dir: b.Dir})
	}
	return out, nil
}

func open(b box.Bind) (*os.File, error) {
	if b.Granted {
		return box.Open(b)
	}
	return os.OpenFile(b.Source, unix.O_PATH, 0)
}

// clone copies a mount with its submounts, and restricts the copy.
func clone(dir int, path string, attr uint64) (int, error) {
	const how = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE
	flags := uint(how)
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	t, err := unix.OpenTree(dir, path, flags)
	if err != nil {
		return -1, fmt.Errorf("open_tree: %w", err)
	}
	if err := unix.MountSetattr(t, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attr}); err != nil {
		return -1, fmt.Errorf("mount_setattr: %w", err)
	}
	return t, nil
}

func holdDevices() ([]tree, error) {
	var out []tree
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := "/dev/" + name
		t, err := clone(unix.AT_FDCWD, path, device)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("hold %s: %w", path, err)
		}
		out = append(out, tree{fd: t, dest: path})
	}
	return out, nil
}

// root is the folder in which the program's root is built.
type root string

func (r root) at(path string) string { return filepath.Join(string(r), path) }

// place creates a mount point.
func (r root) place(path string, dir bool) (string, error) {
	at := r.at(path)
	if dir {
		return at, os.MkdirAll(at, 0o755) //nolint:gosec // a folder like /usr
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // as above
		return "", err
	}
	if _, err := os.Lstat(at); err == nil {
		return at, nil
	}
	return at, os.WriteFile(at, nil, 0o444) //nolint:gosec // as above
}

func (r root) attach(t tree) error {
	at, err := r.place(t.dest, t.dir)
	if err != nil {
		return err
	}
	if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("show %s: %w", t.dest, err)
	}
	_ = unix.Close(t.fd) // the mount remains
	return nil
}

func (r root) attachAll(trees []tree) error {
	for _, t := range trees {
		if err := r.attach(t); err != nil {
			return err
		}
	}
	return nil
}

func (r root) tmpfs(path, options string) error {
	at, err := r.place(path, true)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

// freeze makes one mount read-only.
func (r root) freeze(path string) error {
	if err := unix.MountSetattr(unix.AT_FDCWD, r.at(path), 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make %s read-only: %w", path, err)
	}
	return nil
}

// proc mounts the processes of this namespace. The parts that can change the kernel, at least for the machine's root,
// are read-only.
func (r root) proc() error {
	at, err := r.place("/proc", true)
	if err != nil {
		return err
	}
	if err := unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := os.WriteFile(filepath.Join(at, "sys/user/max_user_namespaces"), []byte("0"), 0o600); err != nil {
		return fmt.Errorf("forbid further namespaces: %w", err)
	}
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"} {
		path := "/proc/" + name
		t, err := clone(unix.AT_FDCWD, r.at(path), readOnly)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = unix.MoveMount(t, "", unix.AT_FDCWD, r.at(path), unix.MOVE_MOUNT_F_EMPTY_PATH)
		}
		if err != nil {
			return fmt.Errorf("cover %s: %w", path, err)
		}
		_ = unix.Close(t) // the mount remains
	}
	return nil
}

// dev mounts a small set of devices.
func (r root) dev(devices []tree) error {
	if err := r.tmpfs("/dev", "mode=755,size=1m"); err != nil {
		return err
	}
	if err := r.attachAll(devices); err != nil {
		return err
	}
	for _, link := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}} {
		if err := os.Symlink(link[0], r.at("/dev/"+link[1])); err != nil {
			return err
		}
	}
	if err := r.tmpfs("/dev/shm", "mode=1777,size=64m"); err != nil {
		return err
	}
	return r.freeze("/dev")
}

// system creates the system's links and made-up files.
func (r root) system(p *box.Plan) error {
	for _, l := range p.Links {
		if err := os.Symlink(l.Target, r.at(l.Path)); err != nil {
			return err
		}
	}
	for _, f := range p.Files {
		at, err := r.place(f.Path, false)
		if err != nil {
			return err
		}
		if err := os.Chmod(at, 0o644); err != nil { //nolint:gosec // a file like /etc/passwd
			return err
		}
		if err := os.WriteFile(at, []byte(f.Text), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

func (r root) mask(masks []box.Mask) error {
	for _, m := range masks {
		if m.Dir {
			if err := r.tmpfs(m.Dest, "mode=755,size=64m"); err != nil {
				return err
			}
			continue
		}
		if err := r.lay(m.Dest, nil, 0o444); err != nil {
			return err
		}
	}
	return nil
}

// pin mounts the pins, and then makes the masks read-only, which may contain pins.
func (r root) pin(p *box.Plan) error {
	for _, pin := range p.Pins {
		if err := r.lay(pin.Dest, pin.Data, os.FileMode(pin.Mode)); err != nil {
			return err
		}
	}
	for _, m := range p.Masks {
		if m.Dir {
			if err := r.freeze(m.Dest); err != nil {
				return err
			}
		}
	}
	return nil
}

// lay covers a file by a copy in memory that has no other name.
func (r root) lay(dest string, data []byte, mode os.FileMode) error {
	copied := r.at("/.laid")
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		return fmt.Errorf("pin %s: %w", dest, err)
	}
	if err := os.Chmod(copied, mode); err != nil {
		return fmt.Errorf("pin %s: %w", dest, err)
	}
	t, err := clone(unix.AT_FDCWD, copied, readOnly)
	if err != nil {
		return fmt.Errorf("pin %s: %w", dest, err)
	}
	if err := r.attach(tree{fd: t, dest: dest}); err != nil {
		return err
	}
	return os.Remove(copied)
}

// enter makes the folder the root and detaches the old one.
func (r root) enter() error {
	if err := r.freeze("/"); err != nil {
		return err
	}
	if err := unix.Chdir(string(r)); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the host's root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	return nil
}
