// Package command transcribes and synthesizes speech with programs of the operator, such as
// whisper.cpp and piper. The program processes untrusted bytes, so it runs in the sandbox: it sees
// the recording, the folders that the operator names and the system's programs, has no network, and
// is limited in time, memory and output. Nothing of its command line passes through a shell.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

// The placeholders in an argument.
const (
	// File is the recording to transcribe; without it the program reads it from standard input.
	File = "{file}"
	// Output is the file for the recording; without it the program writes it to standard output.
	Output = "{output}"
	// Language and Voice are as requested, or empty.
	Language = "{language}"
	Voice    = "{voice}"
)

const (
	maxText      = 1 << 20  // of a transcript
	maxRecording = 32 << 20 // of a synthesized recording
	maxWords     = 200      // of the last output of a failed program, for the log
	maxMemory    = 8 << 30  // models are large
	maxProcesses = 256
)

// Options configure a [Transcriber] or [Synthesizer]. Argv, Sandbox and Scratch are required.
type Options struct {
	Argv []string
	// Read are additional files and folders that the program may read, such as its model.
	Read    []string
	Sandbox sandbox.Sandbox
	// Scratch is a folder in which each call gets a folder of its own, which is deleted when the
	// call ends.
	Scratch string
	// Path is where programs are looked up.
	Path string
	// Timeout bounds one call in addition to its context.
	Timeout time.Duration
}

// Transcriber implements [speech.Transcriber]. The text is the program's output.
type Transcriber struct{ o Options }

var _ speech.Transcriber = (*Transcriber)(nil)

// NewTranscriber returns a transcriber that runs the program.
func NewTranscriber(o Options) *Transcriber { return &Transcriber{o} }

// Transcribe implements [speech.Transcriber].
func (t *Transcriber) Transcribe(ctx context.Context, a speech.Audio) (string, error) {
	var text []byte
	err := t.o.within(func(dir string) error {
		file := filepath.Join(dir, "audio"+strings.ToLower(filepath.Ext(a.Path)))
		if err := copied(a.Path, file); err != nil {
			return &speech.Error{Reason: speech.ReasonUnreadable, Message: "the recording cannot be copied"}
		}
		c := call{dir: dir, limit: maxText, words: []string{File, file, Language, plain(a.Language)}}
		if !t.o.names(File) {
			f, err := os.Open(file)
			if err != nil {
				return &speech.Error{Reason: speech.ReasonUnreadable, Message: "the recording cannot be opened"}
			}
			defer f.Close() //nolint:errcheck // only read from
			c.input = f
		}
		var err error
		text, err = t.o.run(ctx, c)
		return err
	})
	return string(text), err
}

// Synthesizer implements [speech.Synthesizer]. The text is the program's input.
type Synthesizer struct{ o Options }

var _ speech.Synthesizer = (*Synthesizer)(nil)

// NewSynthesizer returns a synthesizer that runs the program.
func NewSynthesizer(o Options) *Synthesizer { return &Synthesizer{o} }

// Synthesize implements [speech.Synthesizer].
func (s *Synthesizer) Synthesize(ctx context.Context, w speech.Words) ([]byte, error) {
	var data []byte
	err := s.o.within(func(dir string) error {
		file := filepath.Join(dir, "speech.opus")
		out, err := s.o.run(ctx, call{
			dir: dir, limit: maxRecording, input: strings.NewReader(w.Text + "\n"), words: []string{Output, file, Voice, plain(w.Voice)},
		})
		if err != nil {
			return err
		}
		if data = out; s.o.names(Output) {
			data, err = read(file)
		}
		return err
	})
	return data, err
}

// plain makes a word chosen by a model or setting safe inside an argument: it cannot become an
// option or a path.
func plain(word string) string {
	bad := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }
	if strings.HasPrefix(word, "-") || strings.ContainsFunc(word, bad) {
		return ""
	}
	return word
}

// within gives a call a folder of its own.
func (o Options) within(do func(dir string) error) error {
	if err := os.MkdirAll(o.Scratch, 0o700); err != nil {
		return &speech.Error{Reason: speech.ReasonProgram, Message: "its folder cannot be made"}
	}
	dir, err := os.MkdirTemp(o.Scratch, "call-*")
	if err != nil {
		return &speech.Error{Reason: speech.ReasonProgram, Message: "its folder cannot be made"}
	}
	defer func() { _ = os.RemoveAll(dir) }() // the next start removes leftovers
	return do(dir)
}

func (o Options) names(word string) bool {
	return slices.ContainsFunc(o.Argv[1:], func(arg string) bool { return strings.Contains(arg, word) })
}

// call is one run of the program.
type call struct {
	dir   string
	input io.Reader
	words []string // placeholders and their values, alternating
	limit int
}

// run runs the program to its end and returns its output.
func (o Options) run(ctx context.Context, c call) ([]byte, error) {
	program := sandbox.Find(o.Argv[0], o.Path)
	if program == "" {
		return nil, &speech.Error{Reason: speech.ReasonProgram, Message: o.Argv[0] + " is not in PATH; write its whole path"}
	}
	argv, fill := []string{program}, strings.NewReplacer(c.words...)
	for _, arg := range o.Argv[1:] {
		argv = append(argv, fill.Replace(arg))
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	out, said := &head{limit: c.limit + 1, full: cancel}, &tail{}
	process, err := o.Sandbox.Start(ctx, sandbox.Spec{
		Argv: argv, Dir: c.dir, Env: []string{"PATH=" + o.Path, "HOME=" + c.dir, "TMPDIR=" + c.dir, "LANG=C.UTF-8"},
		Writable: []string{c.dir}, Readable: append(slices.Clone(o.Read), o.own(program)...),
		Stdin: c.input, Stdout: out, Stderr: said,
		Limits: sandbox.Limits{Wall: o.Timeout, CPU: 8 * o.Timeout, Memory: maxMemory, FileSize: maxRecording, Processes: maxProcesses},
	})
	switch {
	case errors.Is(err, sandbox.ErrUnavailable):
		return nil, &speech.Error{Reason: speech.ReasonSandbox, Message: "no sandbox is available; see sma doctor"}
	case err != nil:
		return nil, &speech.Error{Reason: speech.ReasonProgram, Err: err}
	}
	exit, err := process.Wait()
	switch {
	case out.tooLong():
		return nil, &speech.Error{Reason: speech.ReasonUnreadable, Message: fmt.Sprintf("the program wrote more than %d bytes", c.limit)}
	case ctx.Err() != nil || exit.Limit == sandbox.LimitWall:
		return nil, &speech.Error{Reason: speech.ReasonLate, Message: "the program took too long"}
	case err != nil || exit.Code != 0:
		return nil, &speech.Error{Reason: speech.ReasonProgram, Message: strings.TrimSpace(ended(exit) + " " + said.line())}
	}
	return out.data, nil
}

func ended(exit sandbox.Exit) string {
	switch {
	case exit.Limit != "":
		return "the program was stopped at its limit of " + exit.Limit + "."
	case exit.Signal != "":
		return "the program was ended by " + exit.Signal + "."
	}
	return fmt.Sprintf("the program ended with code %d.", exit.Code)
}

// own returns the files that the program itself needs, and those that the operator names in its
// command line. System files are available to every program.
func (o Options) own(program string) []string {
	var out []string
	for _, file := range append([]string{program}, o.Argv[1:]...) {
		target, err := filepath.EvalSymlinks(file)
		if !filepath.IsAbs(file) || err != nil || ofSystem(target) || slices.Contains(out, target) {
			continue
		}
		if info, err := os.Stat(target); err == nil && info.Mode().IsRegular() {
			out = append(out, target)
			if file != target {
				out = append(out, file)
			}
		}
	}
	return out
}

// ofSystem reports whether a path is in a folder of the system's programs and libraries.
func ofSystem(path string) bool {
	for _, dir := range []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/proc/", "/dev/", "/sys/"} {
		if strings.HasPrefix(path, dir) {
			return true
		}
	}
	return false
}

// read reads a recording that a program wrote. Links and everything else that is not a regular file
// are refused.
func read(file string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, &speech.Error{Reason: speech.ReasonProgram, Message: "the program took its folder away"}
	}
	defer root.Close() //nolint:errcheck // only read from
	info, err := root.Lstat(filepath.Base(file))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecording {
		return nil, &speech.Error{Reason: speech.ReasonUnreadable, Message: "the program left no recording in " + Output}
	}
	f, err := root.Open(filepath.Base(file))
	if err != nil {
		return nil, &speech.Error{Reason: speech.ReasonUnreadable, Message: "the program left no recording in " + Output}
	}
	defer f.Close() //nolint:errcheck // only read from
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxRecording)); err != nil {
		return nil, &speech.Error{Reason: speech.ReasonUnreadable, Err: err}
	}
	return b.Bytes(), nil
}

// copied copies a recording, so that the program cannot change a file of a chat or see its name.
func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read from
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
