// Command bench measures a host and, in the same run, the minimal bots of a load harness, and
// prints every figure with its target: `make bench`. The systems take turns in every round, so
// that other load on the machine affects all of them; a figure is the median of the rounds.
//
// The harness is a folder with a Go program whose commands drive, idle and coldstart play Telegram
// and a model on loopback, and whose command refbot is the minimal bot. Nothing else outside this
// repository is needed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // there is nothing to release
	}
}

// report is what is written as JSON.
type report struct {
	When     time.Time `json:"when"`
	Go       string    `json:"go"`
	CPUs     int       `json:"cpus"`
	Rounds   int       `json:"rounds"`
	Rows     []row     `json:"rows"`
	Failings []string  `json:"failings"`
}

func run(ctx context.Context) error {
	harness := flag.String("harness", "", "the `folder` of the harness")
	sma := flag.String("sma", "bin/sma", "the program to measure")
	file := flag.String("json", "bin/bench.json", "the `file` for the figures as JSON")
	rounds := flag.Int("runs", 3, "rounds; the figures are medians")
	flag.Parse()
	if *harness == "" || *rounds < 1 {
		return errors.New("needs the folder of the harness (make bench BENCH_DIR=…) and at least one round")
	}
	program, err := filepath.Abs(*sma)
	if err != nil {
		return err
	}
	b := &bench{sma: program, samples: samples{}, failings: []string{}}
	if err := b.measure(ctx, *harness, *rounds); err != nil {
		return err
	}
	r := report{time.Now().UTC(), runtime.Version(), runtime.NumCPU(), *rounds, rows(figures(), b.samples), b.failings}
	if _, err := os.Stdout.WriteString(table(r)); err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(*file, append(text, '\n'), 0o600)
}
