package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// A repository can configure programs that git runs even for reading it: converters, filters, diff drivers, signature
// checks, transports that fetch missing objects. People grant reading commands for a time, so these commands run none
// of them. In other commands they may be intended, and a person has seen the command.

// gitRead reports whether words are a git command that only reads a repository.
func gitRead(words []string) bool {
	reads := []string{
		"status", "log", "diff", "show", "blame", "annotate", "branch", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe", "shortlog",
		"cat-file", "grep", "reflog", "show-ref", "for-each-ref", "name-rev", "diff-tree", "diff-index", "diff-files", "tag", "whatchanged",
		"check-ignore", "check-attr", "count-objects", "merge-base", "cherry", "range-diff", "remote",
	}
	return len(words) > 1 && words[0] == "git" && slices.Contains(reads, words[1])
}

const (
	// gitListing and gitPatient bound the list of a repository's settings, in bytes and in time.
	gitListing = 1 << 20
	gitPatient = 10 * time.Second
	// plainDiff replaces the diff programs that a repository configures.
	plainDiff = `f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5" || :; }; f`
)

// readingGit is the environment of a reading git command, in which programs that the repository configures are
// replaced by harmless ones.
func (s *Shell) readingGit(ctx context.Context, spec sandbox.Spec) ([]string, error) {
	git := sandbox.Find("git", s.opts.Path)
	if git == "" {
		return nil, nil // the command itself will report it
	}
	keys, err := s.gitKeys(ctx, spec, git)
	if err != nil {
		return nil, err
	}
	for _, file := range gitModules(spec.Dir, s.root) {
		more, err := s.gitKeys(ctx, spec, git, "--file", file)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	settings := append(usualGit(),
		setting{"gpg.program", "false"}, setting{"gpg.openpgp.program", "false"}, setting{"gpg.ssh.program", "false"}, setting{"gpg.x509.program", "false"},
		setting{"log.showSignature", "false"}, setting{"diff.ignoreSubmodules", "all"}, setting{"status.submoduleSummary", "false"},
		setting{"submodule.recurse", "false"}, setting{"safe.bareRepository", "explicit"},
	)
	for _, key := range keys {
		if instead, ok := tamed(key); ok {
			settings = append(settings, instead...)
		}
	}
	return append(gitSettings(settings), "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0"), nil
}

// tamed returns harmless replacements for a setting of a repository that names a program.
func tamed(key string) ([]setting, bool) {
	section, rest, _ := strings.Cut(key, ".")
	at := strings.LastIndexByte(rest, '.')
	name := rest[at+1:]
	switch {
	case section == "diff" && at < 0 && name == "external", section == "diff" && at >= 0 && name == "command":
		return []setting{{key, plainDiff}}, true
	case section == "diff" && at >= 0 && name == "textconv":
		return []setting{{key, "cat"}}, true
	case section == "filter" && at >= 0:
		head := section + "." + rest[:at]
		return []setting{{head + ".clean", ""}, {head + ".smudge", ""}, {head + ".process", ""}, {head + ".required", "false"}}, true
	case section == "submodule" && at >= 0:
		return []setting{{section + "." + rest[:at] + ".ignore", "all"}}, true
	default:
		return nil, false
	}
}

// gitKeys lists the names of the settings that git reads in a folder.
func (s *Shell) gitKeys(ctx context.Context, spec sandbox.Spec, git string, from ...string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitPatient)
	defer cancel()
	out := &limited{most: gitListing}
	spec.Argv = append([]string{git, "config", "--null", "--name-only", "--list"}, from...)
	spec.Stdin, spec.Stdout, spec.Stderr, spec.Pinned, spec.Network = nil, out, nil, nil, false
	p, err := s.opts.Sandbox.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	exit, err := p.Wait()
	if err == nil && (exit.Code < 0 || out.over || ctx.Err() != nil) {
		err = fmt.Errorf("git ended with code %d %s", exit.Code, exit.Signal)
	}
	if err != nil {
		return nil, fmt.Errorf("read the repository's settings: %w", err)
	}
	// An exit code greater than 0 says that the settings cannot be read: git then reads nothing else either.
	return strings.Split(strings.TrimRight(out.buf.String(), "\x00"), "\x00"), nil
}

// gitModules are the .gitmodules files in a folder and its parents.
func gitModules(dir, root string) []string {
	var out []string
	for ; inside(dir, root); dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".gitmodules")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			out = append(out, file)
		}
	}
	return out
}

// limited buffers up to most bytes and then fails.
type limited struct {
	buf  bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > l.most {
		l.over = true
		return 0, fmt.Errorf("more than %d bytes", l.most)
	}
	return l.buf.Write(p)
}
