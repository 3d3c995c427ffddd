package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file of a tar archive, or a folder if its name ends in a slash.
type entry struct {
	name  string
	data  []byte
	mode  int64
	owner int
}

// writeTar writes an archive that depends on nothing but its arguments.
func writeTar(w io.Writer, when time.Time, entries []entry) error {
	out := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), ModTime: when, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(e.data); err != nil {
			return err
		}
	}
	return out.Close()
}

// archive makes the archive that people unpack.
func (r *release) archive(t target, program string, notices []byte) error {
	dir := fmt.Sprintf("sma_%s_%s/", r.version, t)
	entries := []entry{{name: dir, mode: 0o755}}
	for _, f := range []struct {
		name, path string
		mode       int64
	}{
		{"sma", program, 0o755},
		{"LICENSE", filepath.Join(r.src, "LICENSE"), 0o644},
		{"README.md", filepath.Join(r.src, "README.md"), 0o644},
		{"CHANGELOG.md", filepath.Join(r.src, "CHANGELOG.md"), 0o644},
	} {
		data, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: dir + f.name, data: data, mode: f.mode})
	}
	entries = append(entries, entry{name: dir + "LICENSES.third-party", data: notices, mode: 0o644})
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(writeTar(zip, r.when, entries), zip.Close()); err != nil {
		return err
	}
	return os.WriteFile(r.file(t, ".tar.gz"), out.Bytes(), 0o644) //nolint:gosec // a release is public
}

// thirdParties are the licences of everything that is linked into the program, as the licences demand.
func (r *release) thirdParties(ctx context.Context, env []string) ([]byte, error) {
	listed, err := r.run(ctx, env, "go", "list", "-deps", "-json=Module,Standard", "./cmd/sma")
	if err != nil {
		return nil, err
	}
	goroot, err := r.run(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	folders := map[string]string{"Go": strings.TrimSpace(string(goroot))}
	for dec := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := p.Module; m != nil && !m.Main {
			folders[m.Path+" "+m.Version] = m.Dir
		}
	}
	var names []string
	for name := range folders {
		names = append(names, name)
	}
	slices.Sort(names)
	var out bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&out, "==== %s\n\n", name)
		if err := addLicences(&out, folders[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out.Bytes(), nil
}

// addLicences appends the licences in a module's folder. Without one, nothing may be released.
func addLicences(out *bytes.Buffer, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		licence := slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"}, func(p string) bool { return strings.HasPrefix(name, p) })
		if e.IsDir() || !licence && !strings.HasPrefix(name, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = found || licence
		fmt.Fprintf(out, "%s\n\n", bytes.TrimSpace(text))
	}
	if !found {
		return errors.New("there is no licence in " + dir)
	}
	return nil
}

// certificates are those of Mozilla's list, as one PEM file. A program on an empty image has no others.
func (r *release) certificates(ctx context.Context) ([]byte, error) {
	out, err := r.run(ctx, []string{"GOFLAGS=-mod=mod"}, "go", "mod", "download", "-json", roots)
	if err != nil {
		return nil, err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	der, err := os.ReadFile(filepath.Join(module.Dir, "bundle", "bundle.der"))
	if err != nil {
		return nil, err
	}
	list, err := x509.ParseCertificates(der)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, c := range list {
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}
