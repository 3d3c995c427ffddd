package steering_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/steering"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// What the settings of a version store make git obey is found in every spelling that git reads, if it is in the project.
func TestWithinFollowsSettings(t *testing.T) {
	for name, x := range map[string]struct{ config, shared, want string }{
		"nothing":            {config: "[core]\n\tbare = false\n"},
		"hooks":              {config: "[core]\n\thooksPath = .githooks\n", want: ".githooks"},
		"in one line":        {config: "[core] hookspath=.githooks", want: ".githooks"},
		"in capitals":        {config: "[CORE]\nHOOKSPATH = .githooks # shared\n", want: ".githooks"},
		"in quotes":          {config: "[core]\n\thooksPath = \"a#b\"\n", want: "a#b"},
		"over two lines":     {config: "[core]\n\thooksPath = .git\\\nhooks\n", want: ".githooks"},
		"by its full path":   {config: "[core]\n\thooksPath = {dir}/tools/hooks\n", want: "tools/hooks"},
		"of another section": {config: "[other]\n\thooksPath = x\n[core \"x\"]\n"},
		"included":           {config: "[include]\n\tpath = ../shared\n", shared: "[core]\n\thooksPath = h\n", want: "shared h"},
		"included if":        {config: "[includeIf \"gitdir:~/x/\"]\n\tpath = ../shared\n", shared: "[include]\npath = more\n", want: "shared more"},
		"in a circle":        {config: "[include]\n\tpath = ../shared\n", shared: "[include]\npath = shared\n", want: "shared"},
		"elsewhere":          {config: "[core]\n\thooksPath = /usr/share/hooks\n\thooksPath = ~/hooks\n[include]\n\tpath = ~/.shared\n\tpath = ../../x\n"},
		"in the store":       {config: "[core]\n\thooksPath = .git/hooks\n"},
		"the whole project":  {config: "[core]\n\thooksPath = .\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{".git/config": strings.ReplaceAll(x.config, "{dir}", dir), "shared": x.shared} {
				stdtest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
				stdtest.Must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			var got []string
			for _, path := range steering.In(dir, []string{filepath.Join(dir, ".git")}, nil).Kept {
				if rel := strings.TrimPrefix(path, dir+"/"); !strings.HasPrefix(rel, ".git/") && !steering.Named(rel) {
					got = append(got, rel)
				}
			}
			stdtest.Diff(t, "kept as it is", strings.Fields(x.want), got, cmp.Transformer("list", func(s []string) string { return strings.Join(s, " ") }))
		})
	}
}

// Settings that are a pipe, which has no end, are not waited for.
func TestSettingsThatAreAPipe(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "nested", ".git")
	stdtest.Must(t, errors.Join(os.MkdirAll(store, 0o755), syscall.Mkfifo(filepath.Join(store, "config"), 0o600)))
	found := make(chan steering.Files, 1)
	go func() { found <- steering.In(dir, []string{store}, nil) }()
	select {
	case <-found:
	case <-time.After(10 * time.Second):
		t.Fatal("the settings are waited for")
	}
}
