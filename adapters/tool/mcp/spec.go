package mcp

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// errNoFile is wrapped by the error for a program that is not installed.
var errNoFile = errors.New("no such program")

// spec describes the program and its permissions for the sandbox, without what steering adds.
func (c *client) spec() (sandbox.Spec, error) {
	s := c.server
	program, path, err := s.Program(c.o.Path)
	if err != nil {
		return sandbox.Spec{}, err
	}
	home, err := ownFolder(filepath.Join(c.o.State, "home", s.Name))
	if err != nil {
		return sandbox.Spec{}, fmt.Errorf("make a home for %s: %w", s.Name, err)
	}
	env := []string{"PATH=" + path, "HOME=" + home}
	n := needs{path: path, project: realPath(c.o.Project), dir: cmp.Or(s.Dir, realPath(c.o.Project))}
	n.program(program, 0)
	inProject := n.arguments(s.Args)
	spec := sandbox.Spec{
		Argv:     append([]string{program}, s.Args...),
		Readable: append(s.readable(), n.paths()...), Writable: slices.Clone(s.Write), Own: []string{home},
		Root: n.project, Hidden: c.o.Hidden, Network: s.Network,
		Limits: sandbox.Limits{
			Wall: forever, CPU: forever, Memory: maxMemory, FileSize: maxFileSize, Processes: maxProcesses, OpenFiles: maxOpenFiles,
		},
	}
	if len(s.Fetch) > 0 {
		packages, err := ownFolder(c.packages())
		if err != nil {
			return sandbox.Spec{}, fmt.Errorf("make a folder for the packages of %s: %w", s.Name, err)
		}
		spec.Own = append(spec.Own, packages)
		env = append(env, fetched(packages, s.Network)...)
	}
	spec.Env = environment(env, s.Env)
	spec.Dir = cmp.Or(s.Dir, home)
	shown := slices.Concat(spec.Readable, spec.Writable, spec.Own)
	if s.Dir == "" && inProject && slices.ContainsFunc(shown, func(p string) bool { return under(p, n.project) || under(n.project, p) }) {
		spec.Dir = n.project
	}
	return spec, nil
}

// environment combines the host's variables with the server's own, which take precedence.
func environment(ours, own []string) []string {
	set := map[string]bool{}
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		set[name] = true
	}
	return append(slices.DeleteFunc(ours, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return set[name]
	}), own...)
}

// ownFolder makes a folder of a server and returns its path without links.
func ownFolder(path string) (string, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// realPath is a path without links, or the path itself if it cannot be resolved.
func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// readable is what the operator lets a program read, including its working directory.
func (s *Server) readable() []string {
	out := slices.Clone(s.Read)
	if s.Dir != "" && !slices.ContainsFunc(slices.Concat(s.Read, s.Write), func(p string) bool { return under(s.Dir, p) }) {
		out = append(out, s.Dir)
	}
	return out
}

// under reports whether a path is dir or below it.
func under(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Program finds the program of a server that has a command, in the server's own PATH or else in that of the host, which
// it returns as well.
func (s *Server) Program(hosts string) (program, path string, err error) {
	path = hosts
	for _, v := range s.Env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	program = sandbox.Find(s.Command, path)
	if info, err := os.Stat(program); err == nil && !info.IsDir() {
		return program, path, nil
	}
	if filepath.IsAbs(s.Command) {
		return "", path, fmt.Errorf("%w: %s", errNoFile, s.Command)
	}
	words := "write its whole path"
	switch s.Command {
	case "npx", "npm", "node":
		words = "install Node.js, https://nodejs.org, which has it, or write its whole path"
	case "uvx", "uv":
		words = "install uv, https://docs.astral.sh/uv, which has it, or write its whole path"
	}
	return "", path, fmt.Errorf("%w: %s is not in PATH (%s); %s", errNoFile, s.Command, path, words)
}

// needs are the files that a program needs to run: the places where it and its interpreter are installed, and the
// scripts that its arguments name, with their packages.
type needs struct {
	path    string // PATH
	project string // without links; may be empty
	dir     string // folder for relative arguments; if empty, they name nothing
	out     []string
}

// maxInterpreters is the maximum length of a chain of scripts and their interpreters.
const maxInterpreters = 4

// program adds a program. The Python of a virtual environment may be outside of the project, and executable files are
// not secrets.
func (n *needs) program(file string, depth int) {
	target, err := filepath.EvalSymlinks(file)
	if err != nil || depth == maxInterpreters || n.leadsOut(file, target) && !sandbox.IsProgram(target) {
		return
	}
	n.out = append(n.out, file, target)
	for _, at := range slices.Compact([]string{file, target}) {
		n.around(at, depth)
	}
	if next := n.interpreter(target); next != "" {
		n.program(next, depth+1)
	}
}

// script adds a file that an argument names, and the packages that contain it.
func (n *needs) script(file string) {
	target, err := filepath.EvalSymlinks(file)
	if err != nil || n.leadsOut(file, target) {
		return
	}
	n.out = append(n.out, file, target)
	n.modules(file)
	n.modules(target)
}

// modules adds the outermost node_modules folder that contains a file, and reports whether there is one.
func (n *needs) modules(file string) bool {
	const packages = "/node_modules/"
	i := strings.Index(file, packages)
	if i >= 0 {
		n.out = append(n.out, file[:i+len(packages)-1])
	}
	return i >= 0
}

// around adds what a file was installed with: the outermost node_modules folder, a Python virtual environment, or the
// libraries next to a bin folder.
func (n *needs) around(file string, depth int) {
	if n.modules(file) {
		return
	}
	bin := filepath.Dir(file)
	prefix := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" {
		return
	}
	if info, err := os.Stat(filepath.Join(prefix, "pyvenv.cfg")); err == nil && info.Mode().IsRegular() {
		n.out = append(n.out, prefix)
		n.program(filepath.Join(bin, "python"), depth+1)
		return
	}
	if home, _ := os.UserHomeDir(); prefix == "/" || prefix == "/usr" || prefix == home { // these contain much more than the program
		return
	}
	n.out = append(n.out, filepath.Join(prefix, "lib"), bin)
}

// interpreter is the program that runs a script according to its first line, or "" if the file is not a script.
func (n *needs) interpreter(file string) string {
	f, err := os.Open(file) //nolint:gosec // a program of the operator's settings
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading only
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return sandbox.Find(word, n.path) // if it is not found, the script itself fails
		}
	}
	return ""
}

// arguments adds the files that arguments name, and reports whether one of them names something in the project by a
// relative path.
func (n *needs) arguments(args []string) (inProject bool) {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		relative := !filepath.IsAbs(arg)
		if relative {
			if arg == "" || n.dir == "" || strings.HasPrefix(arg, "-") {
				continue
			}
			arg = filepath.Join(n.dir, arg)
		}
		info, err := os.Stat(arg)
		if err != nil {
			continue
		}
		inProject = inProject || relative && under(arg, n.project)
		if info.Mode().IsRegular() {
			n.script(arg)
		}
	}
	return inProject
}

// leadsOut reports whether a path in the project leads out of it. Those who can write to the project must not choose
// what else a server reads.
func (n *needs) leadsOut(file, target string) bool {
	return n.project != "" && under(file, n.project) && !under(target, n.project)
}

// paths are the files and folders that exist and do not lead out of the project.
func (n *needs) paths() []string {
	slices.Sort(n.out)
	return slices.Compact(slices.DeleteFunc(n.out, func(p string) bool {
		target, err := filepath.EvalSymlinks(p)
		return err != nil || n.leadsOut(p, target) && !sandbox.IsProgram(target)
	}))
}
