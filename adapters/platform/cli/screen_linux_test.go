package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/shipmyagent/shipmyagent/adapters/platform/cli/ptytest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func terminal(t *testing.T) *os.File {
	t.Helper()
	tty, _ := ptytest.Open(t)
	stdtest.Must(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}))
	return tty
}

func TestOpenScreen(t *testing.T) {
	tty := terminal(t)
	pipe, _, err := os.Pipe()
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = pipe.Close() })
	tests := []struct {
		name    string
		in, out *os.File
		env     map[string]string
		want    *Screen
	}{
		{"a terminal", tty, tty, map[string]string{"TERM": "xterm"}, &Screen{Color: true}},
		{"no colours", tty, tty, map[string]string{"NO_COLOR": "1"}, &Screen{}},
		{"dumb", tty, tty, map[string]string{"TERM": "dumb"}, nil},
		{"input from a pipe", pipe, tty, nil, nil},
		{"output into a pipe", tty, pipe, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, err := term.GetState(int(tty.Fd()))
			stdtest.Must(t, err)
			got, restore, err := OpenScreen(tt.in, tt.out, func(name string) string { return tt.env[name] })
			if err != nil || (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
			restore()
			if after, err := term.GetState(int(tty.Fd())); err != nil || *after != *before {
				t.Errorf("the terminal is not as it was: %v", err)
			}
		})
	}
}

// A window that changes its width while somebody writes breaks the line where it ends now.
func TestResizedWindow(t *testing.T) {
	tty, person := ptytest.Open(t)
	resize := func(columns uint16) {
		stdtest.Must(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: columns}))
	}
	resize(100)
	screen, _, err := OpenScreen(tty, tty, func(string) string { return "" })
	stdtest.Must(t, err)
	in, lines := newInput(REPLOptions{In: tty, Out: tty, Screen: screen}), make(chan string)
	go in.read(t.Context(), lines)
	resize(40)
	if _, err := person.WriteString(strings.Repeat("x", 60) + "\r\x04"); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; got != strings.Repeat("x", 60) {
		t.Errorf("read %q", got)
	}
	<-lines // the end
	stdtest.Must(t, tty.Close())
	if shown, _ := io.ReadAll(person); !strings.Contains(string(shown), "> "+strings.Repeat("x", 38)+"\r\n") { // a terminal ends with an error
		t.Errorf("shown %q", shown)
	}
}
