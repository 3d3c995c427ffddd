package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type bench struct {
	sma, harness, linked string // programs
	dir                  string // for everything that is made
	telegram, model      string // addresses of the harness's fakes
	samples              samples
	failings             []string
}

func (b *bench) measure(ctx context.Context, harness string, rounds int) (err error) {
	if b.dir, err = os.MkdirTemp("", "sma-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return b.buildHarness(ctx, harness) },
		b.buildLinked, b.pickAddresses, b.sizeProgram, b.fillChats, b.runTests,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for round := range rounds {
		if err := b.round(ctx, round); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) round(ctx context.Context, round int) error {
	for _, l := range loads() {
		for i := range l.systems { // each round begins with another one
			system := l.systems[(i+round)%len(l.systems)]
			say("round %d: %s, %s", round+1, l.name, system)
			one, err := b.drive(ctx, l, system)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", l.name, system, err)
			}
			b.samples.add(l.name, system, one)
		}
	}
	return b.startLinked(ctx)
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// drive has the harness apply a load to a system.
func (b *bench) drive(ctx context.Context, l load, system string) (sample, error) {
	folder := filepath.Join(b.dir, "state")
	if l.keep {
		folder = filepath.Join(b.dir, "kept")
	}
	if err := errors.Join(empty(folder, l.keep), b.writeProject(folder)); err != nil {
		return nil, err
	}
	file := filepath.Join(b.dir, "result.json")
	args := append([]string{
		l.command, "-name", system, "-tg", b.telegram, "-llm", b.model, "-json", file, "-data", folder, "-sut", b.command(system, folder), "-max-time", "30m",
	}, l.flags...)
	if text, err := command(ctx, "", b.harness, args...); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	text, err := os.ReadFile(file)
	if err = errors.Join(err, os.Remove(file)); err != nil {
		return nil, err
	}
	one, failings, err := parseResult(text)
	for _, f := range failings {
		b.failings = append(b.failings, fmt.Sprintf("%s, %s: %s", l.name, system, f))
	}
	return one, err
}

// empty removes a folder; of a kept one, only the chats in which the harness speaks at each start.
// Its updates have the same numbers every time, which a chat would take for repeated ones.
func empty(folder string, keep bool) error {
	if !keep {
		return os.RemoveAll(folder)
	}
	again, err := filepath.Glob(filepath.Join(folder, ".ship", "chat", "telegram-chat-9*"))
	for _, name := range again {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// command is how the harness starts a system.
func (b *bench) command(system, folder string) string {
	streams := b.harness + " refbot -stream -pad 15000"
	switch system {
	case memory:
		return b.harness + " refbot"
	case streaming:
		return streams
	case durable:
		return streams + " -durable " + folder
	default:
		return "env TELEGRAM_BOT_TOKEN={token} " + b.sma + " run " + folder
	}
}

// writeProject makes a folder that ours can run. The token comes in its own variable and the
// addresses are of this machine, so there is nothing that a person must agree to.
func (b *bench) writeProject(folder string) error {
	settings := fmt.Sprintf(`{
  "llm": {"provider": "custom", "model": "bench", "baseUrl": "http://%s/v1", "apiKey": "bench"},
  "adapters": {
    "telegram": {"enabled": true, "baseUrl": "http://%s", "access": "open", "groups": "all", "rateLimit": "off", "egress": "direct"},
    "web": {"enabled": false}
  },
  "metrics": {"listen": "off"},
  "log": {"level": "warn"}
}
`, b.model, b.telegram)
	return errors.Join(
		os.MkdirAll(folder, 0o700),
		os.WriteFile(filepath.Join(folder, "Agent.md"), []byte("# Bench\n\nAnswer briefly.\n"), 0o600),
		os.WriteFile(filepath.Join(folder, "ship.json"), []byte(settings), 0o600),
	)
}

func parseResult(text []byte) (sample, []string, error) {
	var all map[string]any
	var known struct{ Failings []string }
	if err := errors.Join(json.Unmarshal(text, &all), json.Unmarshal(text, &known)); err != nil {
		return nil, nil, fmt.Errorf("read the harness's result: %w", err)
	}
	one := sample{}
	one.flatten("", all)
	if chats := one["chats"]; chats > 0 {
		one["bytes_per_chat"] = (one["after.rss_bytes"] - one["empty.rss_bytes"]) / chats
		if n, ok := one["answered"]; ok && n < chats {
			known.Failings = append(known.Failings, fmt.Sprintf("%v of %v chats answered", n, chats))
		}
	}
	if n := one["unanswered"]; n > 0 {
		known.Failings = append(known.Failings, fmt.Sprintf("%v starts without an answer", n))
	}
	if previous := one["llm.previous_bytes"]; previous > 0 {
		one["kept_percent"] = 100 * one["llm.prefix_kept_bytes"] / previous
	}
	return one, known.Failings, nil
}

// flatten adds the numbers of an object, those of inner objects with dotted names.
func (s sample) flatten(prefix string, object map[string]any) {
	for name, v := range object {
		switch v := v.(type) {
		case float64:
			s[prefix+name] = v
		case map[string]any:
			s.flatten(prefix+name+".", v)
		}
	}
}

// command runs a program and returns what it printed.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	return c.CombinedOutput()
}

func (b *bench) buildHarness(ctx context.Context, folder string) error {
	b.harness = filepath.Join(b.dir, "harness")
	if text, err := command(ctx, folder, "go", "build", "-o", b.harness, "."); err != nil {
		return fmt.Errorf("build the harness: %w\n%s", err, text)
	}
	return nil
}

// buildLinked builds the program that links the same libraries as ours.
func (b *bench) buildLinked(ctx context.Context) error {
	say("building a program that links the same libraries")
	list, err := command(ctx, "", "go", "list", "-deps", "-f", "{{if not .Standard}}{{if not .Module.Main}}{{.ImportPath}}{{end}}{{end}}", "./cmd/sma")
	if err != nil {
		return fmt.Errorf("list the libraries: %w\n%s", err, list)
	}
	folder := filepath.Join(b.dir, "link")
	b.linked = filepath.Join(b.dir, "linked")
	err = errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "main.go"), linkedSource(strings.Fields(string(list))), 0o600))
	for _, name := range []string{"go.mod", "go.sum"} {
		text, readErr := os.ReadFile(name)
		err = errors.Join(err, readErr, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	if err != nil {
		return err
	}
	if text, err := command(ctx, folder, "go", "build", "-trimpath", "-ldflags", "-s -w -funcalign=1", "-o", b.linked, "."); err != nil {
		return fmt.Errorf("build a program that links the same libraries: %w\n%s", err, text)
	}
	return nil
}

// linkedSource is a program that imports the packages of others that it may import.
func linkedSource(packages []string) []byte {
	var out bytes.Buffer
	out.WriteString("package main\n\nimport (\n")
	for _, path := range packages {
		if !strings.Contains("/"+path+"/", "/internal/") {
			fmt.Fprintf(&out, "\t_ %q\n", path)
		}
	}
	out.WriteString(")\n\nfunc main() { println(\"linked\") }\n")
	return out.Bytes()
}

// startLinked measures from exec to exit.
func (b *bench) startLinked(ctx context.Context) error {
	var took []float64
	for range 5 {
		began := time.Now()
		if text, err := command(ctx, "", "sh", "-c", "env BENCH=1 "+b.linked); err != nil { // as the harness starts ours
			return fmt.Errorf("run the linked program: %w\n%s", err, text)
		}
		took = append(took, time.Since(began).Seconds()*1e3)
	}
	b.samples.add(start, linked, sample{"to_first_poll_ms.p50": median(took)})
	return nil
}

// pickAddresses finds two free ports.
func (b *bench) pickAddresses(ctx context.Context) error {
	for _, to := range []*string{&b.telegram, &b.model} {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		*to = l.Addr().String()
		defer func() { _ = l.Close() }() // both are open until both are known
	}
	return nil
}

func (b *bench) sizeProgram(context.Context) error {
	info, err := os.Stat(b.sma)
	if err != nil {
		return err
	}
	b.samples.add(program, ours, sample{"bytes": float64(info.Size())})
	return nil
}

func (b *bench) fillChats(ctx context.Context) error {
	say("filling the disk with chats")
	_, err := b.drive(ctx, fill(), ours)
	return err
}

// runTests measures what tests of this repository count or time.
func (b *bench) runTests(ctx context.Context) error {
	for _, t := range []struct {
		load string
		args []string
	}{
		{wholeTurn, []string{"-v", "-run", "^TestTurnTouchesFewFiles$", "./cmd/internal/longchat"}},
		{resume, []string{"-v", "-run", "^TestStartAmongManyChats$", "./cmd/sma"}},
		{storeAppend, []string{"-run", "^$", "-bench", "^BenchmarkAppend$/chats=64$", "./persistence/filestore"}},
	} {
		say("%s", t.load)
		text, err := command(ctx, "", "env", append([]string{"SOAK=1", "go", "test", "-count=1"}, t.args...)...)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", t.load, err, text)
		}
		b.samples.add(t.load, ours, parseTest(text))
	}
	return nil
}

// parseTest reads what a test or benchmark printed: key=number, or a number before its unit.
func parseTest(text []byte) sample {
	one := sample{}
	for _, m := range regexp.MustCompile(`(\w+)=([0-9.]+)|([0-9.]+) (turns/s)`).FindAllStringSubmatch(string(text), -1) {
		if v, err := strconv.ParseFloat(m[2]+m[3], 64); err == nil {
			one[m[1]+m[4]] = v
		}
	}
	return one
}
