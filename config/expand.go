package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

const (
	// maxIncludedFile bounds what one ${file:path} reads.
	maxIncludedFile = 64 << 10
	// maxExpanded bounds the text of all strings of a project.
	maxExpanded = 4 << 20
)

// note is what is known about a string of a file of settings after its expansion.
type note struct {
	at            Origin
	written, text string
	// secret says that the string is a secret, and variable which variable its row proposes.
	secret   bool
	variable string
	// via names the variables and files that were used.
	via []string
	// literal is set if the file itself contains the text, at least as a fallback.
	literal bool
	// missing describes every variable or file that does not exist.
	missing []string
	// files are the paths of all named files, whether or not they exist.
	files []string
	// bound is the text in which references to variables of the operator and files outside of the project are not
	// replaced. It changes with the project, but not with the operator's values.
	bound string
	// named are the operator's variables that were used, and outside the files outside of the project.
	named, outside []string
}

// expand expands a string. It fails only for bad syntax, with an error that does not quote the string.
func (r *reader) expand(s string) (note, error) {
	x := note{}
	var full, bound strings.Builder
	both := func(text string) {
		full.WriteString(text)
		bound.WriteString(text)
	}
	for rest := s; ; {
		before, after, found := strings.Cut(rest, "${")
		literal, escaped := strings.CutSuffix(before, "$")
		inner, tail, closed := strings.Cut(after, "}")
		switch {
		case !found:
			both(rest)
			x.text, x.bound = full.String(), bound.String()
			x.literal = x.literal || len(x.via) == 0 && x.text != ""
			return x, nil
		case escaped:
			both(literal + "${")
			rest = after
			continue
		case !closed:
			return x, errors.New("has a ${ without its }; write $${ for a literal ${")
		}
		both(before)
		foreign := len(x.named) + len(x.outside)
		text, err := r.reference(inner, &x)
		if r.expanded += len(text); err == nil && r.expanded > maxExpanded {
			err = errors.New("expands to too much text")
		}
		if err != nil {
			return x, err
		}
		full.WriteString(text)
		if len(x.named)+len(x.outside) > foreign {
			text = "${" + inner + "}"
		}
		bound.WriteString(text)
		rest = tail
	}
}

// reference replaces the text between the braces.
func (r *reader) reference(inner string, x *note) (string, error) {
	if strings.Contains(inner, "${") {
		return "", errors.New("nests one ${…} in another, which is not possible")
	}
	if path, ok := strings.CutPrefix(inner, "file:"); ok {
		return r.file(path, x)
	}
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !isVariable(name) {
		return "", errors.New("has a ${…} that is none of ${NAME}, ${NAME:-text} and ${file:path}; write $${ for a literal ${")
	}
	x.via = append(x.via, "${"+name+"}")
	if text, ok := r.lookup(name); ok && text != "" {
		if r.byOperator(name) {
			x.named = append(x.named, name)
		}
		return text, nil
	}
	if !hasFallback {
		x.missing = append(x.missing, fmt.Sprintf("the environment variable %s is not set, or empty", name))
		return "", nil
	}
	x.literal = x.literal || fallback != ""
	return fallback, nil
}

func (r *reader) file(path string, x *note) (string, error) {
	if path == "" {
		return "", errors.New("has a ${file:} without a path")
	}
	full := r.absolute(path)
	x.via = append(x.via, "${file:"+path+"}")
	x.files = append(x.files, full)
	if out := leadsOut(r.Dir, path); out != "" {
		x.outside = append(x.outside, out)
	}
	text, err := readSmall(full, maxIncludedFile)
	if err != nil {
		x.missing = append(x.missing, fmt.Sprintf("the file %s cannot be read: %s", path, reason(err)))
		return "", nil
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// isVariable reports whether a name can be that of an environment variable.
func isVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z')
		if digit := r >= '0' && r <= '9'; !letter && (!digit || i == 0) {
			return false
		}
	}
	return name != ""
}

var (
	errNotRegular = errors.New("it is not a regular file")
	errTooLarge   = errors.New("it is too large")
)

// readSmall reads a regular file of at most limit bytes. It does not block on pipes and devices.
func readSmall(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, errTooLarge
	}
	return data, nil
}

// reason says in our own words why a file could not be read.
func reason(err error) string {
	path, ok := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case ok:
		return path.Err.Error()
	}
	return err.Error()
}

// openToOthers reports whether people other than the owner can read a file, and its mode.
func openToOthers(path string) (fs.FileMode, bool) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&0o077 != 0
}
