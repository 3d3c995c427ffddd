package cli

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

func TestFirstSignalAsksSecondForces(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in, exited := make(chan os.Signal), make(chan int)
	var s signals
	go s.follow(ctx, in, cancel, func(code int) { exited <- code })
	in <- syscall.SIGTERM
	<-ctx.Done()
	if err := context.Cause(ctx); orderly(err) != nil || err.Error() != "received terminated" {
		t.Errorf("cause = %v, want an orderly end", err)
	}
	in <- os.Interrupt
	if code := <-exited; code != console.CodeInterrupted {
		t.Errorf("exit code = %d, want %d", code, console.CodeInterrupted)
	}
}

func TestHangups(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in := make(chan os.Signal)
	service := signals{}
	go service.follow(ctx, in, cancel, nil)
	in <- syscall.SIGHUP
	in <- syscall.SIGHUP // taken only after the first one was looked at
	if err := ctx.Err(); err != nil {
		t.Errorf("a service that is sent SIGHUP ends: %v", err)
	}
	cancel(nil)

	ctx, cancel = context.WithCancelCause(t.Context())
	defer cancel(nil)
	in = make(chan os.Signal)
	person := signals{terminal: true}
	go person.follow(ctx, in, cancel, nil)
	in <- syscall.SIGHUP
	<-ctx.Done()
	if err := orderly(context.Cause(ctx)); err != nil {
		t.Errorf("a terminal that was closed ends the host with %v", err)
	}
}

func TestCommandsMayTakeInterrupts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	in, done := make(chan os.Signal), make(chan struct{})
	var s signals
	mine, release := s.take()
	go func() {
		defer close(done)
		s.follow(ctx, in, cancel, nil)
	}()
	in <- os.Interrupt
	if got := <-mine; got != os.Interrupt || ctx.Err() != nil {
		t.Errorf("the command got %v, context %v; want the interrupt alone", got, ctx.Err())
	}
	release()
	in <- os.Interrupt
	<-ctx.Done()
	if code := console.CodeOf(context.Cause(ctx)); code != console.CodeInterrupted {
		t.Errorf("code = %d, want %d", code, console.CodeInterrupted)
	}
	close(in)
	<-done
}

func TestCodes(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, 0},
		{"a plain error", errors.New("x"), console.CodeFailed},
		{"a failure inside others", errors.Join(errors.New("x"), &console.Failure{Code: console.CodeRunning}), console.CodeRunning},
		{"canceled", context.Canceled, console.CodeInterrupted},
		{"SIGTERM", console.Signal{Signal: syscall.SIGTERM}, 143},
		{"SIGINT", console.Signal{Signal: os.Interrupt}, console.CodeInterrupted},
		{"a failure because of a signal", &console.Failure{Code: console.CodeFailed, Why: console.Signal{Signal: os.Interrupt}}, console.CodeInterrupted},
		{"a host that SIGTERM ended", orderly(console.Signal{Signal: syscall.SIGTERM}), console.CodeOK},
		{"a host whose terminal was closed", orderly(console.Signal{Signal: syscall.SIGHUP}), console.CodeOK},
		{"a host that Ctrl-C ended", orderly(console.Signal{Signal: os.Interrupt}), console.CodeInterrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := console.CodeOf(tt.err); got != tt.want {
				t.Errorf("code = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestOneLineIsHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"a\n b\tc":            "a b c",
		"\x1b[31mred\u202e":   "[31mred",
		"一二三四五六七八九十一二":        "一二三四五六七八九十…",
		"\u0085\u2066hidden ": "hidden",
	} {
		if got := checkup.OneLine(in, 10); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDrawCode(t *testing.T) {
	picture := []rune(console.QRCode("https://t.me/sample_bot?start=ABCD2345"))
	if len(picture) < 400 || picture[0] != '█' {
		t.Errorf("the code has %d characters and begins with %q", len(picture), picture[0])
	}
}
