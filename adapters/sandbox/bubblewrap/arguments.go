//go:build linux

package bubblewrap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
)

// arguments are bwrap's arguments for what a program sees, without the program itself.
func arguments(s sandbox.Spec, l sandbox.Limits, p *box.Plan, f *files) ([]string, error) {
	out := []string{
		"--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox", "--clearenv",
	}
	if !s.Network {
		out = append(out, "--unshare-net")
	}
	if filter := hold.Apart(s.Network); len(filter) > 0 {
		fd, err := f.data(encoded(filter))
		if err != nil {
			return nil, err
		}
		out = append(out, "--seccomp", fd)
	}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		out = append(out, "--setenv", name, value)
	}
	for _, link := range p.Links {
		out = append(out, "--symlink", link.Target, link.Path)
	}
	out = append(out, "--proc", "/proc")
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"} {
		// The machine's root could write some of them even without capabilities.
		out = append(out, "--ro-bind-try", "/proc/"+name, "/proc/"+name)
	}
	out = append(
		out, "--dev", "/dev", "--size", strconv.Itoa(64<<20), "--perms", "1777", "--tmpfs", "/dev/shm",
		"--size", strconv.FormatInt(l.Memory/2, 10), "--perms", "1777", "--tmpfs", "/tmp",
	)
	for _, file := range p.Files {
		fd, err := f.data([]byte(file.Text))
		if err != nil {
			return nil, err
		}
		out = append(out, "--perms", "0644", "--file", fd, file.Path)
	}
	for _, b := range p.Binds {
		args, err := bind(b, f)
		if err != nil {
			return nil, err
		}
		out = append(out, args...)
	}
	covers, err := cover(p, f)
	if err != nil {
		return nil, err
	}
	return append(append(out, covers...), "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", s.Dir), nil
}

func bind(b box.Bind, f *files) ([]string, error) {
	if !b.Granted {
		return []string{"--ro-bind", b.Source, b.Dest}, nil
	}
	fd, err := f.path(b)
	if err != nil {
		return nil, err
	}
	if b.Writable {
		return []string{"--bind-fd", fd, b.Dest}, nil
	}
	return []string{"--ro-bind-fd", fd, b.Dest}, nil
}

// cover mounts masks, own folders and pins, and then makes the masks read-only.
func cover(p *box.Plan, f *files) ([]string, error) {
	var out, closing []string
	lay := func(dest string, data []byte, mode uint32) error {
		fd, err := f.data(data)
		if err == nil {
			out = append(out, "--perms", fmt.Sprintf("%04o", mode), "--ro-bind-data", fd, dest)
		}
		return err
	}
	mask := func(masks []box.Mask) error {
		for _, m := range masks {
			if m.Dir {
				out = append(out, "--tmpfs", m.Dest)
				closing = append(closing, "--remount-ro", m.Dest)
			} else if err := lay(m.Dest, nil, 0o444); err != nil {
				return err
			}
		}
		return nil
	}
	below, above := p.Layers()
	if err := mask(below); err != nil {
		return nil, err
	}
	for _, b := range p.Own {
		args, err := bind(b, f)
		if err != nil {
			return nil, err
		}
		out = append(out, args...)
	}
	if err := mask(above); err != nil {
		return nil, err
	}
	for _, pin := range p.Pins {
		if err := lay(pin.Dest, pin.Data, pin.Mode); err != nil {
			return nil, err
		}
	}
	return append(out, closing...), nil
}

// encoded encodes a filter of system calls as the kernel and bwrap's option --seccomp read it.
func encoded(filter []unix.SockFilter) []byte {
	var out []byte
	for _, f := range filter {
		out = append(binary.NativeEndian.AppendUint16(out, f.Code), f.Jt, f.Jf)
		out = binary.NativeEndian.AppendUint32(out, f.K)
	}
	return out
}

// joined encodes arguments for bwrap's option --args.
func joined(args []string) []byte {
	var out bytes.Buffer
	for _, a := range args {
		out.WriteString(a)
		out.WriteByte(0)
	}
	return out.Bytes()
}
