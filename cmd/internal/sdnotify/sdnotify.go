package sdnotify

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// look is how often the health is looked at until the process is ready.
	look = 100 * time.Millisecond
	// patience is how long being ready may take. Then the manager hears that the process has started, and the status
	// says what is missing: a service that cannot be reached is no reason to start the process again.
	patience = 30 * time.Second
	// steady is how often the status is sent to a manager without a watchdog.
	steady = 10 * time.Second
)

// Health is how the process is.
type Health struct {
	Ready bool   // everything that it should do works
	Alive bool   // it works at all; otherwise a restart is the only thing that helps
	Text  string // one line for people
}

// Manager is the service manager that started the process. A nil Manager is none.
type Manager struct {
	address  string
	watchdog time.Duration // 0 if there is no watchdog
}

// Take returns the service manager that the environment names, or nil. It removes what it read from the environment, so
// that programs started by this process cannot speak for it.
func Take() *Manager {
	address, usec, pid := os.Getenv("NOTIFY_SOCKET"), os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name) // fails for invalid names only
	}
	if !strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "@") { // a path, or the name of an abstract socket
		return nil
	}
	m := &Manager{address: address}
	if n, err := strconv.ParseInt(usec, 10, 64); err == nil && n > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.watchdog = time.Duration(n) * time.Microsecond
	}
	return m
}

// Report tells the manager about the process until ctx ends or the returned function is called, which says that the
// process stops. health is asked by one goroutine, in time for the watchdog.
func (m *Manager) Report(ctx context.Context, log *slog.Logger, health func(context.Context) Health) (stopping func()) {
	if m == nil {
		return func() {}
	}
	send := func(lines ...string) {
		if err := m.send(lines); err != nil {
			log.Warn("the host's status cannot be sent to the service manager", "error", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		reports{send: send, health: health, watchdog: m.watchdog, log: log}.follow(ctx)
	}()
	return func() {
		cancel()
		<-done
		send("STOPPING=1", "STATUS=stopping")
	}
}

// send sends one message. The manager's socket keeps it until the manager reads it.
func (m *Manager) send(lines []string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: m.address, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	defer func() { _ = conn.Close() }() // a datagram is sent or not by now
	if _, err := conn.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		return fmt.Errorf("notify: %w", err)
	}
	return nil
}

// reports sends the status to the manager while the process runs.
type reports struct {
	send     func(lines ...string)
	health   func(context.Context) Health
	watchdog time.Duration
	log      *slog.Logger
}

// follow reports until ctx ends.
func (r reports) follow(ctx context.Context) {
	began, ready, told := time.Now(), false, ""
	every := steady
	if r.watchdog > 0 {
		every = min(r.watchdog/3, steady)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		h := r.ask(ctx, every)
		var lines []string
		switch {
		case ctx.Err() != nil:
			return
		case !ready && (h.Ready || time.Since(began) >= patience):
			ready = true
			lines = append(lines, "READY=1")
		case !ready:
		case h.Alive && r.watchdog > 0:
			lines = append(lines, "WATCHDOG=1")
		case !h.Alive:
			r.log.Warn("the host does not work any more; its service manager gets no more watchdog signals and will restart it")
		}
		if text := "STATUS=" + strings.Join(strings.Fields(h.Text), " "); len(lines) > 0 || text != told { // one line
			r.send(append(lines, text)...)
			told = text
		}
		if timer.Reset(look); ready {
			timer.Reset(every)
		}
	}
}

// ask asks for the health, for a limited time.
func (r reports) ask(ctx context.Context, most time.Duration) Health {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return r.health(ctx)
}
