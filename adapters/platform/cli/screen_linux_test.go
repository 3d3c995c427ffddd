package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/shipmyagent/shipmyagent/adapters/platform/cli/ptytest"
)

func terminal(t *testing.T) *os.File {
	t.Helper()
	tty, _ := ptytest.Open(t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return tty
}

func TestOpenScreen(t *testing.T) {
	tty := terminal(t)
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
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
		if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: columns}); err != nil {
			t.Fatal(err)
		}
	}
	resize(100)
	screen, _, err := OpenScreen(tty, tty, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
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
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	if shown, _ := io.ReadAll(person); !strings.Contains(string(shown), "> "+strings.Repeat("x", 38)+"\r\n") { // a terminal ends with an error
		t.Errorf("shown %q", shown)
	}
}

// shown is what a terminal of some columns shows, with a bar where the cursor is. It knows what a line editor writes.
func shown(t *testing.T, columns int, output string) string {
	t.Helper()
	rows, x, y := [][]rune{nil}, 0, 0
	put := func(r rune) {
		for len(rows) <= y {
			rows = append(rows, nil)
		}
		for len(rows[y]) <= x {
			rows[y] = append(rows[y], ' ')
		}
		rows[y][x] = r
		x++
	}
	for _, part := range regexp.MustCompile(`(?s)\x1b\[[?0-9;]*[@-~]|.`).FindAllString(output, -1) {
		n, _ := strconv.Atoi(strings.Trim(part, "\x1b[ABCDJKHlh?"))
		switch part[len(part)-1:] + part[:1] {
		case "\r\r":
			x = 0
		case "\n\n":
			if y++; y == len(rows) {
				rows = append(rows, nil)
			}
		case "A\x1b":
			y -= max(1, n)
		case "B\x1b":
			y += max(1, n)
		case "C\x1b":
			x = min(columns-1, x+max(1, n))
		case "D\x1b":
			x = max(0, x-max(1, n))
		case "J\x1b", "K\x1b":
			rows[y] = rows[y][:min(x, len(rows[y]))]
			if part[len(part)-1] == 'J' {
				rows = rows[:y+1]
			}
		case "h\x1b", "l\x1b":
		default:
			r := []rune(part)[0]
			if unicode.Is(unicode.Mn, r) {
				continue
			}
			wide := unicode.Is(unicode.Han, r)
			if x == columns || wide && x+1 == columns {
				x, y = 0, y+1
			}
			if put(r); wide {
				put(0) // its other half
			}
		}
	}
	for len(rows[y]) <= min(x, columns-1) {
		rows[y] = append(rows[y], ' ')
	}
	rows[y][min(x, columns-1)] = '|'
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
	}
	return strings.Join(lines, "\n")
}

// Chinese characters take two columns: the cursor is where the next character appears, and a character that does not
// fit begins the next row.
func TestWideCharacters(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"你好吗", "> 你好吗|"},
		{"你好吗\x1b[D\x1b[D", "> 你|吗"},
		{"你好吗\x1b[D\x1b[Dx", "> 你x|吗"},
		{"你好吗\x7f", "> 你好|"},
		{"你好吗\x1b[D\x7f", "> 你|"},
		{"你好吗\x01我\x05.", "> 我你好吗.|"},
		{"你好 吗吗\x17.", "> 你好 .|"},
		{"a一二三四五六七八九十", "> a一二三四五六七八\n九十|"},
		{"a一二三四五六七八九十\x1b[D\x1b[D\x1b[D", "> a一二三四五六七|\n九十"},
		{"a一二三四五六七八九十\x01b", "> b|一二三四五六七八\n九十"},
		{"一二三四五六七八九", "> 一二三四五六七八九\n|"},
		{"一二三四五六七八九\x7f\x7f", "> 一二三四五六七|"},
		{"你e\u0301好\x1b[D", "> 你e|"},
	} {
		t.Run(fmt.Sprintf("%q", c.keys), func(t *testing.T) {
			tty, person := ptytest.Open(t)
			if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 20}); err != nil {
				t.Fatal(err)
			}
			screen, _, err := OpenScreen(tty, tty, func(string) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			in, lines := newInput(REPLOptions{In: tty, Out: tty, Screen: screen}), make(chan string, 1)
			go in.read(t.Context(), lines)
			if _, err := person.WriteString(c.keys); err != nil {
				t.Fatal(err)
			}
			var late atomic.Bool
			defer time.AfterFunc(5*time.Second, func() {
				late.Store(true)
				_, _ = person.WriteString(".") // which ends the wait for output
			}).Stop()
			var output, got string
			for part := make([]byte, 4096); got != c.want; {
				n, err := person.Read(part)
				if output += string(part[:n]); err != nil || late.Load() {
					t.Errorf("shown\n%s\nwant\n%s\noutput %q: %v", got, c.want, output, err)
					break
				}
				got = shown(t, 20, output)
			}
			if _, err := person.WriteString("\r\x04"); err != nil {
				t.Fatal(err)
			}
			<-lines
			<-lines
		})
	}
}
