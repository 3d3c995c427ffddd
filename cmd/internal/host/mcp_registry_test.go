package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// npmRegistry serves the packages of a node_modules folder as a registry does, so that
// package runners find the versions of its lock file and ask nobody else.
func npmRegistry(t *testing.T, folder string) string {
	t.Helper()
	raw := stdtest.Read(t, filepath.Join(folder, ".package-lock.json"))
	var lock struct {
		Packages map[string]struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"packages"`
	}
	stdtest.Must(t, json.Unmarshal(raw, &lock))
	type folders map[string]string // by version
	packages, latest := map[string]folders{}, map[string]string{}
	for at, p := range lock.Packages {
		i := strings.LastIndex(at, "node_modules/")
		name := at[i+len("node_modules/"):]
		if p.Name != "" {
			name = p.Name
		}
		if packages[name] == nil {
			packages[name] = folders{}
		}
		packages[name][p.Version] = filepath.Join(filepath.Dir(folder), at)
		if i == 0 {
			latest[name] = p.Version
		}
	}
	var address string
	var mu sync.Mutex
	packed := map[string][]byte{} // by folder
	pack := func(folder string) []byte {
		mu.Lock()
		defer mu.Unlock()
		if packed[folder] == nil {
			packed[folder] = tarball(t, folder)
		}
		return packed[folder]
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, version, isTarball := strings.Cut(strings.Trim(r.URL.Path, "/"), "/-/")
		known := packages[name]
		switch {
		case known == nil, isTarball && known[version] == "":
			http.NotFound(w, r)
		case isTarball:
			_, _ = w.Write(pack(known[version])) // the client has left
		default:
			control.JSON(w, http.StatusOK, packument(t, name, latest[name], known, address))
		}
	}))
	t.Cleanup(h.Close)
	address = h.URL
	return address
}

func packument(t *testing.T, name, latest string, versions map[string]string, address string) map[string]any {
	t.Helper()
	out := map[string]any{}
	for version, folder := range versions {
		raw, err := os.ReadFile(filepath.Join(folder, "package.json")) //nolint:gosec // of an installed package
		if err != nil {
			continue // for another system
		}
		manifest := map[string]any{}
		if err := json.Unmarshal(raw, &manifest); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		delete(manifest, "scripts")
		manifest["dist"] = map[string]string{"tarball": address + "/" + name + "/-/" + version}
		out[version] = manifest
		if latest == "" {
			latest = version
		}
	}
	return map[string]any{"name": name, "dist-tags": map[string]string{"latest": latest}, "versions": out}
}

// tarball is a package as a registry hands it out.
func tarball(t *testing.T, folder string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Error(err)
		return nil
	}
	archive := tar.NewWriter(zipped)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path) //nolint:gosec // of an installed package
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + filepath.ToSlash(rel), Mode: 0o755, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = archive.Write(data)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = zipped.Close()
	}
	if err != nil {
		t.Errorf("pack %s: %v", folder, err)
	}
	return out.Bytes()
}
