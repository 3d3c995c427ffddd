package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// nobody is the user that the image runs as.
const nobody = 65532

// blob is a file of an image, which is named by its digest.
type blob struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *platform         `json:"platform,omitempty"`
	data        []byte
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

func newBlob(mediaType string, data []byte) blob {
	return blob{MediaType: mediaType, Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(data)), Size: len(data), data: data}
}

func (b blob) path() string { return "blobs/sha256/" + b.Digest[len("sha256:"):] }

// config is the configuration of an image, with Docker's health check.
type config struct {
	User         string
	ExposedPorts map[string]struct{}
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	WorkingDir   string
	Labels       map[string]string
	StopSignal   string
	Healthcheck  struct {
		Test                           []string
		Interval, Timeout, StartPeriod time.Duration
	}
}

// image makes a container image: the program, the certificates that it trusts, a user and two folders. It is in the
// layout of OCI and in that of "docker save" at once, so that podman, skopeo and every Docker can load it.
func (r *release) image(t target, program string, notices []byte) error {
	sma, err := os.ReadFile(program) //nolint:gosec // built before
	if err != nil {
		return err
	}
	var layer bytes.Buffer
	if err := writeTar(&layer, r.when, []entry{
		{name: "agent/", mode: 0o700, owner: nobody},
		{name: "etc/", mode: 0o755},
		{name: "etc/group", data: fmt.Appendf(nil, "root:x:0:\nsma:x:%d:\n", nobody), mode: 0o644},
		{name: "etc/passwd", data: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nsma:x:%[1]d:%[1]d:sma:/home/sma:/sbin/nologin\n", nobody), mode: 0o644},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", data: r.certs, mode: 0o644},
		{name: "home/", mode: 0o755},
		{name: "home/sma/", mode: 0o700, owner: nobody},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/sma", data: sma, mode: 0o755},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
		{name: "usr/share/doc/sma/", mode: 0o755},
		{name: "usr/share/doc/sma/LICENSES.third-party", data: notices, mode: 0o644},
	}); err != nil {
		return err
	}
	content := newBlob("application/vnd.oci.image.layer.v1.tar", layer.Bytes())
	settings, err := json.Marshal(map[string]any{
		"architecture": t.arch, "os": t.os, "created": r.when, "config": r.config(),
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{content.Digest}},
		"history": []map[string]any{{"created": r.when, "created_by": "make dist"}},
	})
	if err != nil {
		return err
	}
	configuration := newBlob("application/vnd.oci.image.config.v1+json", settings)
	entries, err := layout(t, "sma:"+r.version, configuration, content)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := writeTar(&out, r.when, entries); err != nil {
		return err
	}
	return os.WriteFile(r.file(t, ".image.tar"), out.Bytes(), 0o644) //nolint:gosec // a release is public
}

func (r *release) config() config {
	c := config{
		User: fmt.Sprintf("%[1]d:%[1]d", nobody), WorkingDir: "/agent", StopSignal: "SIGTERM",
		Env: []string{"PATH=/usr/bin", "HOME=/home/sma"}, Entrypoint: []string{"/usr/bin/sma"}, Cmd: []string{"run", "/agent"},
		ExposedPorts: map[string]struct{}{"3000/tcp": {}, "9464/tcp": {}}, Volumes: map[string]struct{}{"/agent": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "sma", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/shipmyagent/shipmyagent",
		},
	}
	c.Healthcheck.Test = []string{"CMD", "/usr/bin/sma", "status", "--probe", "-C", "/agent"}
	c.Healthcheck.Interval, c.Healthcheck.Timeout, c.Healthcheck.StartPeriod = 30*time.Second, 10*time.Second, 30*time.Second
	return c
}

// layout are the files of an image's archive.
func layout(t target, name string, configuration, content blob) ([]entry, error) {
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": configuration, "layers": []blob{content},
	})
	if err != nil {
		return nil, err
	}
	top := newBlob("application/vnd.oci.image.manifest.v1+json", manifest)
	top.Platform = &platform{t.arch, t.os}
	_, tag, _ := bytes.Cut([]byte(name), []byte(":"))
	top.Annotations = map[string]string{"org.opencontainers.image.ref.name": string(tag), "io.containerd.image.name": "docker.io/library/" + name}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []blob{top}})
	if err != nil {
		return nil, err
	}
	docker, err := json.Marshal([]map[string]any{{"Config": configuration.path(), "RepoTags": []string{name}, "Layers": []string{content.path()}}})
	if err != nil {
		return nil, err
	}
	entries := []entry{{name: "blobs/", mode: 0o755}, {name: "blobs/sha256/", mode: 0o755}}
	for _, b := range []blob{configuration, content, top} {
		entries = append(entries, entry{name: b.path(), data: b.data, mode: 0o644})
	}
	return append(
		entries, entry{name: "index.json", data: index, mode: 0o644}, entry{name: "manifest.json", data: docker, mode: 0o644},
		entry{name: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`), mode: 0o644},
	), nil
}
