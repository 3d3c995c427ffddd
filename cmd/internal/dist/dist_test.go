package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestTarDependsOnItsArguments(t *testing.T) {
	when := time.Unix(1700000000, 0).UTC()
	entries := []entry{{name: "a/", mode: 0o755}, {name: "a/b", data: []byte("text"), mode: 0o600, owner: nobody}}
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		stdtest.Must(t, writeTar(w, when, entries))
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two archives of the same files differ")
	}
	in := tar.NewReader(&first)
	for _, want := range entries {
		h, err := in.Next()
		stdtest.Must(t, err)
		data, err := io.ReadAll(in)
		stdtest.Must(t, err)
		if h.Name != want.name || !bytes.Equal(data, want.data) || h.Mode != want.mode || h.Uid != want.owner || !h.ModTime.Equal(when) {
			t.Errorf("%s has %q, mode %o, owner %d, time %v; want %+v", h.Name, data, h.Mode, h.Uid, h.ModTime, want)
		}
	}
}

// TestImage reads an image as programs do that load it: by the index, and by Docker's list.
func TestImage(t *testing.T) {
	r := &release{out: t.TempDir(), version: "1.2.3", when: time.Unix(1700000000, 0).UTC(), certs: []byte("certificates")}
	program := filepath.Join(t.TempDir(), "sma")
	stdtest.Must(t, os.WriteFile(program, []byte("program"), 0o600))
	on := target{"linux", "arm64"}
	stdtest.Must(t, r.image(on, program, []byte("licences")))
	raw := stdtest.Read(t, filepath.Join(r.out, "sma_1.2.3_linux_arm64.image.tar"))
	files := untar(t, bytes.NewReader(raw))
	for name, data := range files {
		if sum, ok := strings.CutPrefix(name, "blobs/sha256/"); ok && sum != "" && sum != fmt.Sprintf("%x", sha256.Sum256(data)) {
			t.Errorf("%s has other contents", name)
		}
	}
	read := func(name string, into any) {
		t.Helper()
		if err := json.Unmarshal(files[name], into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var index, manifest struct {
		Manifests, Layers []blob
		Config            blob
	}
	read("index.json", &index)
	read(index.Manifests[0].path(), &manifest)
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	read("manifest.json", &docker)
	if docker[0].Config != manifest.Config.path() || docker[0].Layers[0] != manifest.Layers[0].path() || docker[0].RepoTags[0] != "sma:1.2.3" {
		t.Errorf("the two lists differ: %+v, %+v", docker, manifest)
	}
	var settings struct {
		Architecture string
		Config       config
		RootFS       struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	read(manifest.Config.path(), &settings)
	if settings.Architecture != "arm64" || settings.Config.User != "65532:65532" || settings.RootFS.DiffIDs[0] != manifest.Layers[0].Digest {
		t.Errorf("configuration: %+v", settings)
	}
	inside := untar(t, bytes.NewReader(files[manifest.Layers[0].path()]))
	for name, want := range map[string]string{"usr/bin/sma": "program", "etc/ssl/certs/ca-certificates.crt": "certificates"} {
		if string(inside[name]) != want {
			t.Errorf("%s has %q, want %q", name, inside[name], want)
		}
	}
}

func untar(t *testing.T, from io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for in := tar.NewReader(from); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		stdtest.Must(t, err)
		if files[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

// published serves a release with a program that only says its version.
func published(t *testing.T, spoil func(files map[string][]byte)) string {
	t.Helper()
	dir := fmt.Sprintf("sma_1.2.3_%s_%s", runtime.GOOS, runtime.GOARCH)
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	err := writeTar(zip, time.Unix(0, 0), []entry{{name: dir + "/", mode: 0o755}, {name: dir + "/sma", data: []byte("#!/bin/sh\necho sma 1.2.3\n"), mode: 0o755}})
	stdtest.Must(t, errors.Join(err, zip.Close()))
	files := map[string][]byte{dir + ".tar.gz": archive.Bytes()}
	files["checksums.txt"] = fmt.Appendf(nil, "%x  %s.tar.gz\n%064d  sma_1.2.3_plan9_mips.tar.gz\n", sha256.Sum256(archive.Bytes()), dir, 0)
	spoil(files)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/latest/download/"), "/download/v1.2.3/")
		if data, ok := files[name]; ok {
			_, _ = w.Write(data) // the script notices
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestInstallScript(t *testing.T) {
	for _, tool := range []string{"curl", "tar", "sed", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			machinetest.Missing(t, "no "+tool)
		}
	}
	archive := fmt.Sprintf("sma_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	tests := []struct {
		name  string
		args  []string
		spoil func(files map[string][]byte)
		fails string
	}{
		{name: "newest", spoil: func(map[string][]byte) {}},
		{name: "a version", args: []string{"1.2.3"}, spoil: func(map[string][]byte) {}},
		{name: "no such version", args: []string{"9.9.9"}, spoil: func(map[string][]byte) {}, fails: "the checksums cannot be fetched"},
		{name: "other bytes", spoil: func(f map[string][]byte) { f[archive] = append(f[archive], 'x') }, fails: "wrong checksum; nothing was installed"},
		{name: "not in the list", spoil: func(f map[string][]byte) { f["checksums.txt"] = nil }, fails: "has not one archive"},
		{name: "twice in the list", spoil: func(f map[string][]byte) {
			f["checksums.txt"] = append(f["checksums.txt"], f["checksums.txt"]...)
		}, fails: "has not one archive"},
		{name: "a name that leaves the folder", spoil: func(f map[string][]byte) {
			f["checksums.txt"] = bytes.ReplaceAll(f["checksums.txt"], []byte("  sma_"), []byte("  sma_../"))
		}, fails: "has not one archive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "bin")
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"install.sh"}, tt.args...)...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "SMA_BIN=" + bin, "SMA_URL=" + published(t, tt.spoil)}
			said, err := cmd.CombinedOutput()
			_, missing := os.Stat(filepath.Join(bin, "sma"))
			switch {
			case tt.fails == "" && (err != nil || missing != nil || !strings.Contains(string(said), "installed sma 1.2.3")):
				t.Errorf("%v, %v\n%s", err, missing, said)
			case tt.fails != "" && (err == nil || missing == nil || !strings.Contains(string(said), tt.fails)):
				t.Errorf("%v, want a failure that says %q, and no program\n%s", err, tt.fails, said)
			}
		})
	}
}

// TestShellScripts has shellcheck read the scripts of the packages.
func TestShellScripts(t *testing.T) {
	check, err := exec.LookPath("shellcheck")
	if err != nil {
		machinetest.Missing(t, "no shellcheck")
	}
	if out, err := exec.CommandContext(t.Context(), check, "install.sh", "debian/postinst", "debian/prerm", "debian/postrm").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompose: what the example mounts is there.
func TestCompose(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "docs", "examples", "compose")
	data := stdtest.Read(t, filepath.Join(dir, "compose.yaml"))
	var compose struct {
		Services map[string]struct{ Volumes []string }
	}
	stdtest.Must(t, yaml.Unmarshal(data, &compose))
	for name, s := range compose.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			if !strings.HasPrefix(from, ".") || from == "./agent" {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, from)); err != nil {
				t.Errorf("%s mounts %s: %v", name, from, err)
			}
		}
	}
}
