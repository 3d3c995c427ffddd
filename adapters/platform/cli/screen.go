package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen is a terminal with line editing.
type Screen struct{ Color bool }

// OpenScreen puts a terminal into the mode for line editing; restore undoes that and must be
// called. The screen is nil unless in and out are a terminal with the necessary abilities. NO_COLOR
// and TERM=dumb are respected.
func OpenScreen(in, out *os.File, getenv func(string) string) (_ *Screen, restore func(), err error) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) || getenv("TERM") == "dumb" {
		return nil, func() {}, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, func() {}, fmt.Errorf("mode of the terminal: %w", err)
	}
	return &Screen{Color: getenv("NO_COLOR") == ""}, func() { _ = term.Restore(int(in.Fd()), before) }, nil
}

// input reads lines, with or without a line editor.
type input struct {
	next       func() (string, error)
	out        io.Writer
	interrupts chan struct{}
	// dropped reports, once, that Ctrl-C was typed; close restores the terminal.
	dropped func() bool
	close   func()
}

func newInput(opts REPLOptions) *input {
	in := &input{out: opts.Out, interrupts: make(chan struct{}, 2), dropped: func() bool { return false }, close: func() {}}
	if opts.Screen == nil {
		r := bufio.NewReader(opts.In)
		in.next = func() (string, error) {
			line, err := r.ReadString('\n')
			if line != "" {
				return line, nil // the error is returned again with the next line
			}
			return "", err
		}
		return in
	}
	keys := &keyFilter{from: opts.In, interrupts: in.interrupts}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, opts.Out}, "> ")
	keys.resize = func() { resize(t, opts.Out) }
	keys.resize()
	t.History = loadHistory(opts.HistoryFile)
	t.SetBracketedPasteMode(true)
	in.next, in.out, in.dropped = t.ReadLine, t, keys.dropped
	in.close = func() { t.SetBracketedPasteMode(false) }
	return in
}

// resize tells a line editor how large its window is now.
func resize(t *term.Terminal, out io.Writer) {
	width, height := 80, 24
	if f, ok := out.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			width, height = w, h
		}
	}
	_ = t.SetSize(max(width, 20), max(height, 2)) // only a write can fail
}

// read sends lines until the input ends, and then closes the channel. Lines that are pasted
// together are one message, which ends with the next typed line.
func (in *input) read(ctx context.Context, lines chan<- string) {
	defer close(lines)
	var pasted []string
	for {
		line, err := in.next()
		if in.dropped() {
			pasted = nil
		}
		if errors.Is(err, term.ErrPasteIndicator) {
			pasted = append(pasted, line)
			continue
		}
		if err != nil {
			return
		}
		line, pasted = strings.Join(append(pasted, line), "\n"), nil
		select {
		case lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

// keyFilter removes Ctrl-C from the input, because it would end the line editor.
type keyFilter struct {
	from       io.Reader
	interrupts chan<- struct{}
	resize     func() // called with each key, because people resize windows
	typed      bool   // Ctrl-C was typed since the last check
}

func (f *keyFilter) dropped() bool {
	was := f.typed
	f.typed = false
	return was
}

const ctrlC = 3

func (f *keyFilter) Read(p []byte) (int, error) {
	for {
		n, err := f.from.Read(p)
		f.resize()
		kept := p[:0]
		for _, b := range p[:n] {
			if b != ctrlC {
				kept = append(kept, b)
				continue
			}
			f.typed = true
			select {
			case f.interrupts <- struct{}{}:
			default: // two are enough to leave
			}
		}
		if len(kept) > 0 || err != nil {
			return len(kept), err
		}
	}
}

const maxHistory = 1000

// history holds earlier lines, newest last, in a file that only the owner can read. Errors of the
// file are ignored.
type history struct {
	lines []string
	file  string
}

func loadHistory(file string) *history {
	h := &history{file: file}
	if file == "" {
		return h
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(raw)) {
		h.lines = append(h.lines, strings.TrimSuffix(line, "\n"))
	}
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
		h.write(os.O_TRUNC, strings.Join(h.lines, "\n")+"\n")
	}
	return h
}

func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.write(os.O_APPEND, line+"\n")
}

func (h *history) Len() int { return len(h.lines) }

// At implements [term.History]; 0 is the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

func (h *history) write(how int, text string) {
	if h.file == "" {
		return
	}
	f, err := os.OpenFile(h.file, how|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(text) // the history is optional
	_ = f.Close()
}
