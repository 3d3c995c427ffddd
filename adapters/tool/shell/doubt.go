package shell

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"github.com/shipmyagent/shipmyagent/messages/programs"
	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// meansSecret is the name of a file named like a secret that a command refers to without spelling it out: a pattern
// matches it, or a link leads to it. It is empty if the command refers to none. For commands that cannot be parsed it
// is also empty, because the check of rules asks for those.
func (s *Shell) meansSecret(r *request) string {
	dir := filepath.Join(s.root, r.rel)
	if r.Command == "" {
		for _, word := range r.Argv {
			if name := s.secretTarget(dir, word, word); name != "" {
				return name
			}
		}
		return ""
	}
	file, err := parse(r.Command)
	if err != nil {
		return ""
	}
	read := &reading{dir: dir, root: s.root}
	found := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok || found != "" {
			return found == ""
		}
		written, _ := static(w)
		fields, _ := read.fields(w)
		for _, f := range fields {
			if found = s.secretTarget(dir, f, written); found != "" {
				break
			}
		}
		return true
	})
	if read.err != nil && found == "" {
		return "too many files"
	}
	return found
}

// secretTarget is the target of a word, if it is named like a secret and the word as written does not show that.
func (s *Shell) secretTarget(dir, word, written string) string {
	path := filepath.Clean(word)
	if !filepath.IsAbs(word) {
		path = filepath.Join(dir, word)
	}
	if word == "" || !inside(path, s.root) {
		return ""
	}
	spelled := strings.FieldsFunc(written, func(c rune) bool { return c == '/' || c == ':' })
	names := []string{path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, target)
	}
	for _, name := range names {
		rel := strings.TrimPrefix(name, s.root+"/")
		for part := range strings.SplitSeq(rel, "/") {
			if secretfile.Protected(secretfile.Normalize(part)) && !slices.Contains(spelled, part) {
				return rel
			}
		}
	}
	return ""
}

// namesScript reports whether an operand of an unknown program is a script of the workspace: an executable file, or
// one that starts with #!. Commands that rules can cover are simple, so the first word is the program.
func (s *Shell) namesScript(r *request) bool {
	words := r.Argv
	if r.Command != "" {
		if words = s.simple(r); words == nil {
			return false
		}
	}
	name := strings.ToLower(filepath.Base(words[0]))
	if programs.Prints(name) || programs.Plain(name) || programs.Runs(name) {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool { return s.script(filepath.Join(s.root, r.rel, w)) })
}

// simple returns the words of a text that is one simple command, as far as they are known, or nil.
func (s *Shell) simple(r *request) []string {
	file, err := parse(r.Command)
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	read := &reading{dir: filepath.Join(s.root, r.rel), root: s.root}
	var out []string
	for _, w := range call.Args {
		fields, _ := read.fields(w)
		out = append(out, fields...)
	}
	return out
}

// script reports whether a path is an executable file or a script.
func (s *Shell) script(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Mode()&0o111 != 0 {
		return true
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var head [2]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && string(head[:]) == "#!"
}
