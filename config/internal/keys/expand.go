package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode/utf8"
)

const (
	// maxIncludedFile bounds what one ${file:path} reads.
	maxIncludedFile = 64 << 10
	// maxExpanded bounds the text of all strings of a project.
	maxExpanded = 4 << 20
)

// Note is what is known about a string of a file of settings after its expansion.
type Note struct {
	// Written is the string before its expansion, and Text the text.
	Written, Text string
	// Via names the variables and files that were used.
	Via []string
	// Bound is the text in which references to variables of the operator and files outside of the project are not
	// replaced. It changes with the project, but not with the operator's values.
	Bound string
	// Named are the operator's variables that were used, and Outside the files outside of the project.
	Named, Outside []string
	// Secret says that the string is a secret.
	Secret bool

	at       Origin
	variable string // proposed by the row of a secret
	// literal is set if the file itself contains the text, at least as a fallback.
	literal bool
	// missing describes every variable or file that does not exist.
	missing []string
	// files are the paths of all named files, whether or not they exist.
	files []string
}

// expand expands a string. It fails only for bad syntax, with an error that does not quote the string.
func (r *Reader) expand(s string) (Note, error) {
	x := Note{}
	var full, bound strings.Builder
	both := func(text string) {
		full.WriteString(text)
		bound.WriteString(text)
	}
	for rest := s; ; {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			both(rest)
			x.Text, x.Bound = full.String(), bound.String()
			x.literal = x.literal || len(x.Via) == 0 && x.Text != ""
			return x, nil
		}
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			both(literal + "${")
			rest = after
			continue
		}
		both(before)
		inner, tail, closed := strings.Cut(after, "}")
		if !closed {
			return x, errors.New("has a ${ without its }; write $${ for a literal ${")
		}
		foreign := len(x.Named) + len(x.Outside)
		text, err := r.reference(inner, &x)
		if r.expanded += len(text); err == nil && r.expanded > maxExpanded {
			err = errors.New("expands to too much text")
		}
		if err != nil {
			return x, err
		}
		full.WriteString(text)
		if len(x.Named)+len(x.Outside) > foreign {
			text = "${" + inner + "}"
		}
		bound.WriteString(text)
		rest = tail
	}
}

// reference replaces the text between the braces.
func (r *Reader) reference(inner string, x *Note) (string, error) {
	if strings.Contains(inner, "${") {
		return "", errors.New("nests one ${…} in another, which is not possible")
	}
	if path, ok := strings.CutPrefix(inner, "file:"); ok {
		return r.file(path, x)
	}
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if !IsVariable(name) {
		return "", errors.New("has a ${…} that is not ${NAME}, ${NAME:-text} or ${file:path}; write $${ for a literal ${")
	}
	x.Via = append(x.Via, "${"+name+"}")
	if text, _ := r.Lookup(name); text != "" {
		if _, set := r.Env(name); set {
			x.Named = append(x.Named, name)
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

func (r *Reader) file(path string, x *Note) (string, error) {
	if path == "" {
		return "", errors.New("has a ${file:} without a path")
	}
	full := r.Absolute(path)
	x.Via = append(x.Via, "${file:"+path+"}")
	x.files = append(x.files, full)
	if out := LeadsOut(r.Dir, path); out != "" {
		x.Outside = append(x.Outside, out)
	}
	text, err := readSmall(full, maxIncludedFile)
	if err != nil {
		x.missing = append(x.missing, fmt.Sprintf("the file %s cannot be read: %s", path, reason(err)))
		return "", nil
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// IsVariable reports whether a name can be that of an environment variable.
func IsVariable(name string) bool {
	const letters = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return name != "" && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789") == ""
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

// LeadsOut is where a path in the settings leads if that is outside of dir: an absolute path, or a path relative to
// dir if it was written so. It is empty for a file in the folder. Links are resolved.
func LeadsOut(dir, path string) string {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return filepath.Clean(full)
	}
	target, err := filepath.EvalSymlinks(full)
	if err != nil { // The file does not exist, so it yields no text.
		return ""
	}
	rel, err := filepath.Rel(root, target)
	switch {
	case err == nil && filepath.IsLocal(rel):
		return ""
	case err == nil && !filepath.IsAbs(path):
		return rel
	}
	return target
}

// EnvFile is the file of variables in the project, and its largest size.
const (
	EnvFile    = ".env"
	maxEnvFile = 256 << 10
)

// parseEnv parses a .env file: lines of the form NAME=value, optionally after export, with # comments and single or
// double quotes (\n, \t, \", \\ and \$ in double ones). Nothing is expanded. The last of several lines for a name
// counts. Malformed lines are reported without quoting them.
func (r *Reader) parseEnv(src []byte) {
	r.Variables = map[string]string{}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(src), bom)) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, fault := parseEnvLine(text)
		if fault != "" {
			r.Report(Error, Origin{Source: FromFile, Name: EnvFile, Line: number, Col: 1}, "", fault)
			continue
		}
		r.Variables[name] = value
	}
}

func parseEnvLine(text string) (name, value, fault string) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", "", "the line is not plain UTF-8 text"
	}
	name, value, found := strings.Cut(strings.TrimPrefix(text, "export "), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || !IsVariable(name) {
		return "", "", "the line is not of the form NAME=value"
	}
	if !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
		value, _, _ = strings.Cut(" "+value, " #")
		return name, strings.TrimSpace(value), ""
	}
	quoted := regexp.MustCompile(`^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(.*)$`).FindStringSubmatch(value)
	switch {
	case quoted == nil:
		return "", "", "the value's quote is not closed on its line"
	case quoted[3] != "" && quoted[3][0] != '#':
		return "", "", "text follows the closing quote of the value"
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`, "$")
	return name, unescape.Replace(quoted[1]) + quoted[2], ""
}
