package sdnotify

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestTake(t *testing.T) {
	tests := []struct {
		name            string
		socket, us, pid string
		want            *Manager
	}{
		{name: "no manager"},
		{name: "a path", socket: "/run/notify", want: &Manager{address: "/run/notify"}},
		{name: "an abstract name", socket: "@sma/notify", want: &Manager{address: "@sma/notify"}},
		{name: "an unknown kind of address", socket: "vsock:2:1234"},
		{name: "a watchdog", socket: "/run/notify", us: "60000000", want: &Manager{address: "/run/notify", watchdog: time.Minute}},
		{name: "our watchdog", socket: "/run/notify", us: "1000", pid: strconv.Itoa(os.Getpid()), want: &Manager{address: "/run/notify", watchdog: time.Millisecond}},
		{name: "the watchdog of another process", socket: "/run/notify", us: "1000", pid: "1", want: &Manager{address: "/run/notify"}},
		{name: "a broken watchdog", socket: "/run/notify", us: "soon", want: &Manager{address: "/run/notify"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := map[string]string{"NOTIFY_SOCKET": tt.socket, "WATCHDOG_USEC": tt.us, "WATCHDOG_PID": tt.pid}
			for name, value := range set {
				t.Setenv(name, value)
			}
			stdtest.Diff(t, "manager", tt.want, Take(), cmp.AllowUnexported(Manager{}))
			for name := range set {
				if value, ok := os.LookupEnv(name); ok {
					t.Errorf("%s=%s is left for other programs", name, value)
				}
			}
		})
	}
}

// heard is a manager's end of a socket.
func heard(t *testing.T, address string) func() string {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return func() string {
		t.Helper()
		stdtest.Must(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		buf := make([]byte, 4096)
		n, err := conn.Read(buf)
		stdtest.Must(t, err)
		return string(buf[:n])
	}
}

func TestReportOnASocket(t *testing.T) {
	addresses := map[string]string{"path": filepath.Join(t.TempDir(), "n")}
	if runtime.GOOS == "linux" {
		addresses["abstract"] = "@" + filepath.Join(t.TempDir(), "n")
	}
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			next := heard(t, address)
			m := &Manager{address: address}
			stopping := m.Report(t.Context(), slog.New(slog.DiscardHandler), func(context.Context) Health {
				return Health{Ready: true, Alive: true, Text: "ready\nor not"}
			})
			if got, want := next(), "READY=1\nSTATUS=ready or not"; got != want {
				t.Errorf("the manager was told %q, want %q", got, want)
			}
			stopping()
			if got, want := next(), "STOPPING=1\nSTATUS=stopping"; got != want {
				t.Errorf("the manager was told %q, want %q", got, want)
			}
		})
	}
}

func TestNoManagerIsToldNothing(t *testing.T) {
	var m *Manager
	m.Report(t.Context(), nil, nil)()
}

// TestReports plays a process whose health changes, and compares what the manager is told at each time.
func TestReports(t *testing.T) {
	type change struct {
		at     time.Duration
		health Health
	}
	well, down := Health{Ready: true, Alive: true, Text: "ready"}, Health{Alive: true, Text: "down"}
	dead := Health{Text: "dead"}
	tests := []struct {
		name     string
		watchdog time.Duration
		until    time.Duration
		changes  []change
		want     []string // without repetitions
	}{
		{
			name: "ready late", watchdog: 30 * time.Second, until: 25 * time.Second,
			changes: []change{{0, down}, {2*time.Second + 50*time.Millisecond, well}},
			want:    []string{"0s STATUS=down", "2.1s READY=1 STATUS=ready", "12.1s WATCHDOG=1 STATUS=ready"},
		},
		{
			name: "never ready is started nevertheless", watchdog: time.Minute, until: 45 * time.Second,
			changes: []change{{0, down}},
			want:    []string{"0s STATUS=down", "30s READY=1 STATUS=down", "40s WATCHDOG=1 STATUS=down"},
		},
		{
			name: "a platform that is down keeps the process", watchdog: 3 * time.Second, until: 10 * time.Second,
			changes: []change{{0, well}, {4500 * time.Millisecond, down}},
			want:    []string{"0s READY=1 STATUS=ready", "1s WATCHDOG=1 STATUS=ready", "5s WATCHDOG=1 STATUS=down"},
		},
		{
			name: "who does not work is not fed", watchdog: 3 * time.Second, until: 10 * time.Second,
			changes: []change{{0, well}, {4500 * time.Millisecond, dead}},
			want:    []string{"0s READY=1 STATUS=ready", "1s WATCHDOG=1 STATUS=ready", "5s STATUS=dead"},
		},
		{
			name: "no watchdog", until: time.Minute,
			changes: []change{{0, well}, {12 * time.Second, down}},
			want:    []string{"0s READY=1 STATUS=ready", "20s STATUS=down"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var got []string
				last := ""
				var now atomic.Pointer[Health]
				r := reports{
					watchdog: tt.watchdog, log: slog.New(slog.DiscardHandler),
					health: func(context.Context) Health { return *now.Load() },
					send: func(lines ...string) {
						if text := strings.Join(lines, " "); text != last {
							got, last = append(got, time.Since(began).String()+" "+text), text
						}
					},
				}
				ctx, cancel := context.WithTimeout(t.Context(), tt.until)
				defer cancel()
				now.Store(&tt.changes[0].health)
				go func() {
					for _, c := range tt.changes[1:] {
						<-time.After(c.at - time.Since(began))
						now.Store(&c.health)
					}
				}()
				r.follow(ctx)
				stdtest.Diff(t, "told", tt.want, got)
			})
		})
	}
}

// The context of a health check that takes too long ends, and the answer that it then gives counts.
func TestSlowHealthIsNotFed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fed := 0
		r := reports{
			watchdog: 3 * time.Second, log: slog.New(slog.DiscardHandler),
			health: func(ctx context.Context) Health {
				<-ctx.Done()
				return Health{Text: context.Cause(ctx).Error()}
			},
			send: func(lines ...string) {
				if lines[0] == "WATCHDOG=1" {
					fed++
				}
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r.follow(ctx)
		if fed > 0 {
			t.Errorf("the watchdog was fed %d times, want never", fed)
		}
	})
}
