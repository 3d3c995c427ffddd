// Package probe tests from inside of a sandbox that forbidden actions fail. It is the host's own binary, executed
// again as the program.
package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// Name is its first argument, by which Main recognizes it.
const Name = "sma-sandbox-probe"

// Tries are the actions that must fail, except for Works.
type Tries struct {
	Read  []string    `json:"read,omitempty"`  // files and folders with content
	Write []string    `json:"write,omitempty"` // files, which are created if missing
	Dial  [][2]string `json:"dial,omitempty"`  // network and address
	Works []string    `json:"works,omitempty"` // files that can be written
	// Passed are folders of which only one entry may be visible, such as those on the way to the probe.
	Passed []string `json:"passed,omitempty"`
}

// Report is the result of a probe.
type Report struct {
	Broken []string `json:"broken"` // what succeeded but must fail, or failed but must succeed
	Env    []string `json:"env"`
	Files  []string `json:"files"` // open files other than the standard streams
}

// Argv is the command line of the probe.
func Argv(executable string, t Tries) ([]string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("write the probe's task: %w", err)
	}
	return []string{executable, Name, string(text)}, nil
}

// Main must be called first by every program that uses the package. In the probe it does not return.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != Name {
		return
	}
	var t Tries
	if err := json.Unmarshal([]byte(os.Args[2]), &t); err != nil {
		os.Exit(2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(run(t)); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func run(t Tries) Report {
	out := Report{Env: os.Environ(), Files: openFiles(), Broken: powers()}
	broken := func(format string, args ...any) { out.Broken = append(out.Broken, fmt.Sprintf(format, args...)) }
	for _, path := range t.Read {
		if readable(path) {
			broken("%s can be read", path)
		}
	}
	for _, path := range t.Passed {
		if entries, err := os.ReadDir(path); err == nil && len(entries) > 1 {
			broken("%s can be read", path)
		}
	}
	for _, path := range t.Write {
		if err := write(path); err == nil {
			broken("%s can be written", path)
		}
	}
	for _, path := range t.Works {
		if err := write(path); err != nil {
			broken("%s cannot be written: %v", path, err)
		}
	}
	for _, to := range t.Dial {
		if err := dial(to[0], to[1]); err == nil {
			broken("%s %s can be reached", to[0], to[1])
		}
	}
	return out
}

func readable(path string) bool {
	if entries, err := os.ReadDir(path); err == nil {
		return len(entries) > 0
	}
	data := make([]byte, 1)
	f, err := os.Open(path) //nolint:gosec // trying is what this is for
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	n, _ := f.Read(data)
	return n > 0
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600) //nolint:gosec // trying is what this is for
	if err != nil {
		return err
	}
	return f.Close()
}

// dial connects, or sends a datagram for UDP.
func dial(network, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // nothing was received
	if strings.HasPrefix(network, "udp") {
		_, err = c.Write([]byte("x"))
	}
	return err
}

// powers checks for privileges that a program must not have.
func powers() []string {
	var out []string
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return []string{"its own state cannot be read: " + err.Error()}
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch name {
		case "CapInh", "CapPrm", "CapEff", "CapAmb", "CapBnd":
			if strings.Trim(value, "0") != "" {
				out = append(out, "it has powers: "+name+" "+value)
			}
		case "NoNewPrivs":
			if value != "1" {
				out = append(out, "it can get powers from programs")
			}
		}
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return append(out, "the processes cannot be read: "+err.Error())
	}
	processes := 0
	for _, e := range entries {
		if strings.Trim(e.Name(), "0123456789") == "" {
			processes++
		}
	}
	if processes > 4 {
		out = append(out, fmt.Sprintf("it sees %d processes", processes))
	}
	return out
}

func openFiles() []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && len(e.Name()) == 1 && e.Name() <= "2" || strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/proc/") || err != nil {
			continue // the runtime's own files, and the folder being read
		}
		out = append(out, e.Name()+" "+target)
	}
	return out
}
