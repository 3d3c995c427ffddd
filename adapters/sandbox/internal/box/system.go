//go:build linux

package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// systemPlan is what every program sees: the system's programs and libraries, and the settings that programs need. It
// excludes files with secrets or names of people.
func systemPlan(network bool) *Plan {
	p := &Plan{}
	for _, path := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"} {
		p.system(path)
	}
	etc := []string{
		"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "nsswitch.conf", "localtime", "timezone", "alternatives", "os-release", "debian_version",
		"ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/certs", "pki/ca-trust/extracted", "ca-certificates/extracted", "crypto-policies",
		"mime.types", "magic", "protocols", "services", "inputrc", "terminfo", "fonts", "locale.conf", "xattr.conf",
	}
	if network {
		etc = append(etc, "resolv.conf", "hosts", "host.conf", "gai.conf")
	}
	for _, name := range etc {
		p.etc(filepath.Join("/etc", name))
	}
	user := fmt.Sprintf("sandbox:x:%d:%d:sandbox:/tmp:/bin/sh\n", os.Getuid(), os.Getgid())
	p.Files = append(
		p.Files,
		File{"/etc/passwd", user}, File{"/etc/group", fmt.Sprintf("sandbox:x:%d:\n", os.Getgid())},
	)
	if !network {
		p.Files = append(p.Files, File{"/etc/hosts", "127.0.0.1 localhost\n"})
	}
	return p
}

// system makes a folder of the system visible, or copies it if it is a link.
func (p *Plan) system(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if target, err := os.Readlink(path); err == nil {
			p.Links = append(p.Links, Link{Target: target, Path: path})
		}
		return
	}
	p.Binds = append(p.Binds, Bind{Source: path, Dest: path, Dir: info.IsDir()})
}

// etc makes a settings file or folder of the system visible, with links resolved.
func (p *Plan) etc(path string) {
	source, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	info, err := os.Stat(source)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return
	}
	if probe, err := os.Open(source); err == nil { //nolint:gosec // the name is one of ours
		_ = probe.Close() // it was only a test
	} else if errors.Is(err, os.ErrPermission) {
		return
	}
	p.Binds = append(p.Binds, Bind{Source: source, Dest: path, Dir: info.IsDir()})
}
