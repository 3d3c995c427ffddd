// Command dist builds what a release consists of: static programs in archives, Debian packages, container images,
// lists of what is in them, and checksums: `make dist`. The same commit and the same Go give the same bytes. It builds
// from a clone, so what is not committed is no part of a release.
//
// It runs two other programs in pinned versions, nfpm and cyclonedx-gomod, and takes the certificates of the images
// from a pinned module. None of them is a dependency of the program.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The tools and data that a release is made with.
const (
	nfpm      = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"
	cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
	roots     = "golang.org/x/crypto/x509roots/fallback@v0.0.0-20261030153154-30a33513ff6d"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := flag.String("out", "bin/dist", "the `folder` for the release, which is emptied first")
	flag.Parse()
	if err := build(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1) //nolint:gocritic // there is nothing to release
	}
}

// target is a system that the program is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

func targets() []target {
	return []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}
}

type release struct {
	out     string    // its folder
	work    string    // for files that are no part of it
	src     string    // a clone of the repository
	version string    // without the v
	when    time.Time // of the commit, for everything in it
	certs   []byte    // the certificates that images trust
}

func build(ctx context.Context, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil { //nolint:gosec // a release is public
		return err
	}
	work, err := os.MkdirTemp("", "dist-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // a temporary folder
	r := &release{out: out, work: work, src: "."}
	if _, err := r.run(ctx, nil, "git", "clone", "--quiet", "--shared", ".", filepath.Join(work, "src")); err != nil {
		return err
	}
	r.src = filepath.Join(work, "src")
	if r.when, err = r.commitTime(ctx); err != nil {
		return err
	}
	if r.certs, err = r.certificates(ctx); err != nil {
		return err
	}
	for _, t := range targets() {
		if err := r.target(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	script, err := os.ReadFile(filepath.Join(r.src, "cmd/internal/dist/install.sh"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "install.sh"), script, 0o755); err != nil { //nolint:gosec // a program
		return err
	}
	return r.checksums()
}

// target builds everything for one system.
func (r *release) target(ctx context.Context, t target) error {
	program := filepath.Join(r.work, t.String())
	env := []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0"}
	if _, err := r.run(ctx, env, "go", "build", "-buildvcs=true", "-trimpath", "-ldflags", "-s -w -funcalign=1", "-o", program, "./cmd/sma"); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	if r.version = strings.TrimPrefix(info.Main.Version, "v"); r.version == "(devel)" {
		r.version = "0.0.0-devel"
	}
	notices, err := r.thirdParties(ctx, env)
	if err != nil {
		return err
	}
	if err := r.archive(t, program, notices); err != nil {
		return err
	}
	// The list has the checksum of the tool, which must not depend on where it was built.
	if _, err := r.run(ctx, nil, "go", "run", "-trimpath", cyclonedx, "bin", "-json", "-noserial", "-notimestamp", "-std", "-version", r.version, "-output", r.file(t, ".bom.json"), program); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	if err := r.image(t, program, notices); err != nil {
		return err
	}
	return r.debian(ctx, t, program, notices)
}

func (r *release) file(t target, ending string) string {
	return filepath.Join(r.out, fmt.Sprintf("sma_%s_%s%s", r.version, t, ending))
}

func (r *release) debian(ctx context.Context, t target, program string, notices []byte) error {
	licences := filepath.Join(r.work, "licences")
	if err := os.WriteFile(licences, notices, 0o600); err != nil {
		return err
	}
	env := []string{
		"ARCH=" + t.arch, "VERSION=" + r.version, "PROGRAM=" + program, "LICENCES=" + licences,
		"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.when.Unix(), 10),
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, err := r.run(ctx, []string{"CGO_ENABLED=0"}, "go", "run", "./cmd/sma", "completion", shell)
		if err != nil {
			return err
		}
		file := filepath.Join(r.work, shell)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
		env = append(env, "COMPLETION_"+strings.ToUpper(shell)+"="+file)
	}
	_, err := r.run(ctx, env, "go", "run", nfpm, "package", "--config", "cmd/internal/dist/debian/nfpm.yaml", "--packager", "deb", "--target", r.file(t, ".deb"))
	return err
}

func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(out.String()), 0o644) //nolint:gosec // a release is public
}

// commitTime is when the commit was made that is checked out.
func (r *release) commitTime(ctx context.Context) (time.Time, error) {
	out, err := r.run(ctx, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// run runs a program in the clone and returns what it wrote to stdout.
func (r *release) run(ctx context.Context, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.src, append(os.Environ(), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, &said)
	}
	return out.Bytes(), nil
}
