package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// meansSecret is a file named like a secret that a command means without spelling it
// out: a pattern matches it, or a link leads to it. Empty: there is none. What cannot be
// read is left to the judge of rules, which asks then.
func (s *Shell) meansSecret(r *request) string {
	dir := filepath.Join(s.root, r.rel)
	if r.Command == "" {
		for _, word := range r.Argv {
			if name := s.secretBehind(dir, word, word); name != "" {
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
			if found = s.secretBehind(dir, f, written); found != "" {
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

// secretBehind is what a word leads to, if that is named like a secret and the word as it
// was written does not say so.
func (s *Shell) secretBehind(dir, word, written string) string {
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
			if secretfile.Protected(secretfile.Fold(part)) && !slices.Contains(spelled, part) {
				return rel
			}
		}
	}
	return ""
}
