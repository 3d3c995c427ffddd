package shell

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/shipmyagent/shipmyagent/messages/programs"
)

const (
	// maxWords bounds the expansion of the words of one command, and maxNested the depth of shell texts inside of
	// shell texts.
	maxWords  = 4096
	maxNested = 4
)

var errManyWords = errors.New("the command's words name too many files to be checked; name fewer, for example a folder instead of its files")

// reading is what a command's text says about files: every word that may name a file, and the files that it would
// execute.
type reading struct {
	files func(word string) []string // returns the files of the workspace that a word may name
	dir   string                     // for globs
	root  string

	words map[string]bool // words that may name files
	runs  map[string]bool // files that are executed, as a script or as a program
	// all is set if something is executed that the text does not show; it may be any of the named files.
	all bool
	// read are the nested texts that were already read, because the words of a command may repeat them.
	read map[nested]bool
	err  error
}

// nested is a shell text inside of others.
type nested struct {
	text  string
	depth int
}

// text reads a shell text.
func (r *reading) text(text string, depth int) error {
	file, err := parse(text)
	if err != nil {
		return err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if call, ok := n.Cmd.(*syntax.CallExpr); ok {
				r.call(call, n.Redirs, depth)
			}
		case *syntax.Word:
			r.word(n)
		case *syntax.Lit: // of words that are not static
			r.name(n.Value)
		case *syntax.SglQuoted:
			r.name(n.Value)
		}
		return r.err == nil
	})
	return r.err
}

// call reads one simple command.
func (r *reading) call(call *syntax.CallExpr, redirects []*syntax.Redirect, depth int) {
	var words []string
	sure := true
	for _, w := range call.Args {
		fields, ok := r.fields(w)
		sure = sure && ok
		if words = append(words, fields...); len(words) > maxWords {
			r.err = errManyWords
			return
		}
	}
	if len(call.Args) == 0 {
		return
	}
	if _, ok := r.fields(call.Args[0]); !ok {
		r.all = true // the program itself is unknown
		return
	}
	var input []string
	for _, d := range redirects {
		if fields, ok := r.fields(d.Word); ok && d.Op == syntax.RdrIn {
			input = append(input, fields...)
		}
	}
	r.program(words, input, sure, depth)
}

// program reads the known words of one command. sure is false if others are unknown.
func (r *reading) program(words, input []string, sure bool, depth int) {
	if len(words) == 0 {
		return
	}
	if strings.Contains(words[0], "/") {
		r.run(words[0])
	}
	name := strings.ToLower(path.Base(words[0]))
	for _, file := range programs.Files(name) {
		r.name(file)
	}
	switch {
	case slices.Contains([]string{"make", "gmake"}, name):
		for _, file := range programs.Files(name) {
			r.run(file)
		}
		r.options(words[1:])
	case slices.Contains([]string{"sed", "gsed", "awk", "gawk", "mawk", "nawk"}, name):
		r.optionFiles(words, "-f", "--file")
	case queries(name):
		r.optionFiles(words, "-f", "--file", "-init", "--init")
		r.orders(words[1:], input, depth)
	case edits(name): // a file that is edited must not be pinned
	case programs.Evaluates(name) || programs.Interprets(name):
		r.script(name, words[1:], input, sure, depth)
	case programs.Starts(name):
		for i, w := range words[1:] {
			base := strings.ToLower(path.Base(w))
			if programs.Runs(base) || programs.Files(base) != nil || r.executable(w) {
				r.program(words[i+1:], input, sure, depth)
			}
			if programs.Starts(base) {
				break // its own call covers all words after it
			}
		}
		if !sure {
			r.all = true
		}
	}
}

// optionFiles marks the files after or in options as executed.
func (r *reading) optionFiles(words []string, options ...string) {
	for i, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch {
		case slices.Contains(options, name) && value != "":
			r.run(value)
		case slices.Contains(options, words[i]):
			r.run(w)
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && len(w) > 2 && slices.Contains(options, w[:2]):
			r.run(w[2:])
		}
	}
}

// orders finds what the operands of a database client execute: a word that begins with a dot or a backslash is a
// command of the client, which may name a file or contain a shell text. The database itself is data.
func (r *reading) orders(words, input []string, depth int) {
	for _, w := range input {
		r.run(w)
	}
	for _, w := range words {
		order := strings.Fields(w)
		if len(order) == 0 || !strings.ContainsAny(order[0][:1], `.\`) {
			continue
		}
		for _, field := range order[1:] {
			r.run(strings.Trim(field, `'"`))
		}
		if depth < maxNested {
			_ = r.text(strings.Join(order[1:], " "), depth+1) // a text that cannot be parsed is not executed by a shell
		}
	}
}

// script finds what an interpreter executes: the files after or in options, up to the first operand; with -c and
// similar options, a text. If it executes its input, or something unknown, that may be any file.
func (r *reading) script(name string, words, input []string, sure bool, depth int) {
	found := r.options(words)
	for _, w := range input {
		found = r.run(w) || found
	}
	letters := "ceEmpr"
	if programs.Evaluates(name) {
		letters = "c"
	}
	inline := name == "eval" || name == "trap" || slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, letters)
	})
	if programs.Evaluates(name) && inline && depth < maxNested {
		for _, w := range words {
			if again := (nested{w, depth + 1}); strings.ContainsAny(w, " \t\n/;") && !r.read[again] {
				r.read[again] = true
				_ = r.text(w, depth+1) // a text that cannot be parsed is not executed by a shell
			}
		}
	}
	if !sure || !found && !inline {
		r.all = true
	}
}

// options marks the files after and in options, and the first operand.
func (r *reading) options(words []string) (found bool) {
	for i, w := range words {
		_, value, assigned := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") {
			found = assigned && r.run(value) || found
			continue
		}
		if !r.run(w) {
			continue
		}
		found = true
		if i == 0 || !strings.HasPrefix(words[i-1], "-") || strings.Contains(words[i-1], "=") {
			break
		}
	}
	return found
}

// run marks the files that a word may name as executed.
func (r *reading) run(word string) bool {
	files := r.files(word)
	for _, f := range files {
		r.runs[f] = true
	}
	return len(files) > 0
}

func (r *reading) executable(word string) bool {
	return strings.Contains(word, "/") && slices.ContainsFunc(r.files(word), func(f string) bool {
		info, err := os.Stat(f)
		return err == nil && info.Mode()&0o111 != 0
	})
}

// word records what a word may name.
func (r *reading) word(w *syntax.Word) {
	fields, _ := r.fields(w)
	for _, f := range fields {
		r.name(f)
	}
}

// name records a word, and the parts of it that may name files.
func (r *reading) name(word string) {
	if len(r.words) > maxWords {
		r.err = errManyWords
		return
	}
	r.words[word] = true
	for _, part := range strings.FieldsFunc(word, func(c rune) bool { return strings.ContainsRune(" \t\r\n;|&<>()'\"`=,:@\\", c) }) {
		r.words[part] = true
		r.words[strings.TrimLeft(part, "/")] = true // of $PWD/name
		if strings.HasPrefix(part, "-") && len(part) > 2 {
			r.words[part[2:]] = true // of -fname
		}
	}
	delete(r.words, "")
}

// fields is what a shell expands a word to, including braces and globs, if that is known without running anything.
func (r *reading) fields(w *syntax.Word) ([]string, bool) {
	if w == nil || len(w.Parts) == 0 {
		return nil, true
	}
	if _, ok := static(w); !ok {
		return nil, false
	}
	reads := 0
	cfg := &expand.Config{Env: expand.ListEnviron("PWD=" + r.dir), ReadDir2: func(dir string) ([]fs.DirEntry, error) {
		if reads++; reads > maxWords || !inside(filepath.Clean(dir), r.root) {
			return nil, fs.ErrNotExist
		}
		return os.ReadDir(dir)
	}}
	var out []string
	for f, err := range expand.FieldsSeq(cfg, w) {
		if err != nil {
			return nil, false
		}
		if out = append(out, f); len(out) > maxWords {
			r.err = errManyWords
			break
		}
	}
	return out, true
}

// queries reports whether a program is a database client, whose operands may be commands of its own.
func queries(name string) bool {
	return slices.Contains([]string{"sqlite", "duckdb", "psql", "mysql", "mariadb", "mongosh", "redis-cli"}, strings.TrimRight(name, "0123456789."))
}

// edits reports whether the operands of a program are files that it changes.
func edits(name string) bool {
	return slices.Contains([]string{"ed", "ex", "vi", "vim", "nvim", "emacs"}, name)
}
