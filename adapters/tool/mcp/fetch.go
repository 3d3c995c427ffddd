package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// packages is the folder with the packages that were downloaded for the server.
func (c *client) packages() string {
	return filepath.Join(c.o.State, "packages", c.server.Name, "files")
}

// fetched are the variables that make package runners keep everything in one folder, and without the network not look
// elsewhere.
func fetched(folder string, network bool) []string {
	out := []string{
		"npm_config_cache=" + filepath.Join(folder, "npm"), "npm_config_update_notifier=false", "npm_config_prefer_offline=true",
		"UV_CACHE_DIR=" + filepath.Join(folder, "uv"), "UV_TOOL_DIR=" + filepath.Join(folder, "uv-tools"),
		"UV_PYTHON_INSTALL_DIR=" + filepath.Join(folder, "python"),
	}
	if !network {
		out = append(out, "npm_config_offline=true", "UV_OFFLINE=1")
	}
	return out
}

// fetch lets the package runner download the server's packages, once per command line. The runner has network access
// and an empty folder, but nothing that the server is granted, knows or has written: neither the server nor a
// downloaded package can make a program with network access read what it should not see. spec is that of the server.
func (c *client) fetch(ctx context.Context, spec sandbox.Spec) error {
	s := c.server
	if len(s.Fetch) == 0 {
		return nil
	}
	folder, err := filepath.EvalSymlinks(c.packages())
	if err != nil {
		return fmt.Errorf("look at the packages of %s: %w", s.Name, err)
	}
	mark, want := filepath.Join(filepath.Dir(folder), "fetched"), digest(append([]string{"fetched", s.Command}, s.Fetch...)...)
	if have, err := os.ReadFile(mark); err == nil && string(have) == want {
		return nil
	}
	c.enter(ConditionStarting, "its packages are fetched", nil)
	c.log.say("fetching its packages: %s", strings.Join(s.Fetch, " "))
	if err := errors.Join(os.RemoveAll(mark), os.RemoveAll(folder), os.MkdirAll(folder, 0o700)); err != nil {
		return fmt.Errorf("empty the packages of %s: %w", s.Name, err)
	}
	spec = sandbox.Spec{
		Argv: append([]string{spec.Argv[0]}, s.Fetch...), Env: c.fetchEnv(spec.Env, folder), Dir: folder, Own: []string{folder},
		Readable: c.fetchNeeds(spec), Hidden: spec.Hidden, Network: true, Limits: spec.Limits, Stdout: c.log, Stderr: c.log,
	}
	spec.Limits.Wall = c.o.Limits.Fetch
	process, err := c.o.Sandbox.Start(ctx, spec)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Command, err)
	}
	exit, err := process.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case exit.Limit == sandbox.LimitWall:
		return fmt.Errorf("its packages were not fetched within %s", c.o.Limits.Fetch)
	case err != nil || exit != sandbox.Exit{}:
		return &startError{what: "its packages cannot be fetched: " + ended(exit, err), words: c.log.lastWords(), spec: spec}
	}
	if err := (document.Disk{}).Write(mark, []byte(want)); err != nil {
		return fmt.Errorf("note that the packages of %s were fetched: %w", s.Name, err)
	}
	return nil
}

// fetchEnv is the environment of a package runner. Of the server's own variables it has only those that configure
// downloads.
func (c *client) fetchEnv(env []string, folder string) []string {
	out := []string{"HOME=" + folder}
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		settings := slices.ContainsFunc([]string{"npm_config_", "uv_", "pip_", "http_proxy", "https_proxy", "no_proxy", "node_extra_ca_certs", "ssl_cert_"}, func(prefix string) bool {
			return strings.HasPrefix(strings.ToLower(name), prefix)
		})
		if name == "PATH" || settings && !slices.Contains([]string{"npm_config_offline", "npm_config_prefer_offline", "UV_OFFLINE"}, name) {
			out = append(out, v)
		}
	}
	return out
}

// fetchNeeds are the files of the package runner itself.
func (c *client) fetchNeeds(spec sandbox.Spec) []string {
	n := needs{project: realPath(c.o.Project)}
	for _, v := range spec.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			n.path = path
		}
	}
	n.program(spec.Argv[0], 0)
	return n.paths()
}
