package console

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/cli/ptytest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// openTerminal opens a pseudo terminal, and returns what it shows.
func openTerminal(t *testing.T) (tty *os.File, shown func() string) {
	t.Helper()
	tty, master := ptytest.Open(t)
	return tty, func() string {
		_, _ = tty.WriteString("$") // marks the end
		var all []byte
		for b := make([]byte, 256); !bytes.HasSuffix(all, []byte("$")); {
			n, err := master.Read(b)
			stdtest.Must(t, err)
			all = append(all, b[:n]...)
		}
		return string(bytes.TrimSuffix(all, []byte("$")))
	}
}

// Work that takes long shows how far it is on one line, and leaves nothing of it. Short work shows nothing.
func TestProgress(t *testing.T) {
	tests := []struct {
		name string
		each time.Duration
		want string
	}{
		{"short", time.Millisecond, ""},
		{"long", 300 * time.Millisecond, "\r2/4 chats\r3/4 chats\r\x1b[K"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tty, shown := openTerminal(t)
			synctest.Test(t, func(*testing.T) {
				show := (&Console{Stderr: tty}).Progress("chats")
				for i := range 5 {
					show(i, 4)
					<-time.After(tt.each)
				}
			})
			if got := shown(); got != tt.want {
				t.Errorf("the terminal shows %q, want %q", got, tt.want)
			}
		})
	}
}

// Programs get no progress.
func TestProgressOnlyOnTerminals(t *testing.T) {
	var out bytes.Buffer
	synctest.Test(t, func(*testing.T) {
		c := &Console{Stderr: &out}
		show, done := c.Progress("chats"), c.Patience("wait", "等")
		for i := range 5 {
			show(i, 4)
			<-time.After(time.Second)
		}
		done()
	})
	if out.Len() > 0 {
		t.Errorf("a program reads %q", out.String())
	}
}

func TestPatience(t *testing.T) {
	for language, want := range map[string]string{"en_US.UTF-8": "writing\r\n", "zh_CN.UTF-8": "正在写入\r\n"} {
		tty, shown := openTerminal(t)
		synctest.Test(t, func(*testing.T) {
			done := (&Console{Stderr: tty, Env: func(string) (string, bool) { return language, true }}).Patience("writing", "正在写入")
			<-time.After(time.Second)
			done()
		})
		if got := shown(); got != want {
			t.Errorf("the terminal shows %q, want %q", got, want)
		}
	}
}
