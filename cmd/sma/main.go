// Command sma runs a folder with an Agent.md as an agent in many chats.
package main

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	_ "time/tzdata" // zones work on machines without zone data

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
	"github.com/shipmyagent/shipmyagent/cmd/internal/actorsystem"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sdnotify"
)

//go:embed demo
var demoProject embed.FS

func main() {
	reexec.Main()
	useProcessors()
	os.Exit(run())
}

// useProcessors lets the runtime have more processors than the machine has. A
// forced write keeps one until the runtime takes it away, for long on this
// scale; with two of them other chats wait. Measured with 200 chats on two
// cores: 1.3 to 1.6 times the turns a second, at the same processor time a turn.
func useProcessors() {
	const atLeast = 8
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < atLeast {
		runtime.GOMAXPROCS(atLeast)
	}
}

func run() int {
	actorsystem.SmallRegistry()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	demo, err := fs.Sub(demoProject, "demo")
	if err != nil { // Unreachable: the folder is embedded
		demo = demoProject
	}
	return cli.Run(context.Background(), cli.Options{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.LookupEnv, EnvNames: variables,
		Signals: signals, Exit: os.Exit, Notify: sdnotify.Take(), Demo: demo,
	})
}

// variables are the names of the environment's variables.
func variables() []string {
	var names []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	return names
}
