package grant

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestJudgeAndProgramsAgree checks that what an open rule lets run without asking does not run a script of the
// project, whatever real program the rule is for and however the script is named. It runs 400 commands, or 10,000 with
// SOAK.
func TestJudgeAndProgramsAgree(t *testing.T) {
	policy := shippedPolicy(t)
	programs := strings.Fields("flock taskset setarch prlimit timeout nice nohup setsid env xargs sh bash dash find awk sed perl python3 sqlite3 tar make m4 run-parts busybox strace script watch " +
		"cat ls wc head tail grep sort cp git go diff stat file cut od du")
	words := []string{
		"./run.sh", "run.sh", "sh run.sh", "sh ./run.sh", "x.lock", "1", "0x1", "x86_64", "--", "-c 'sh run.sh'", "-c ./run.sh", "-f run.mk", "-e 'system(\"sh run.sh\")'", "'BEGIN{system(\"sh run.sh\")}'",
		"'1e sh run.sh'", "a.txt", "x.db '.shell sh run.sh'", "x.db '.system sh run.sh'", "x.db '.read orders.sql'", ".shell", "-init orders.sql x.db", "cfI x.tar 'sh run.sh' a.txt", "cf x.tar a.txt --to-command=./run.sh",
		"cf x.tar a.txt --checkpoint=1 --checkpoint-action=exec=./run.sh", ". -exec ./run.sh ';'", ". -exec sh run.sh {} +", ".", "scripts", "run.m4", "EXEC:./run.sh", "--compress-program=./run.sh", "--open-files-in-pager=./run.sh",
		"grep -Osh a", "-c alias.x='!sh run.sh' x", "run ./run.go", "vet -vettool=./run.sh", "test -exec ./run.sh", "</dev/null", "<run.sh", "-n1", "A=b",
	}
	dir, bin := t.TempDir(), os.Getenv("PATH")
	marker := filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\n: > " + marker + "\n"
	for name, text := range map[string]string{
		"run.sh": script, "scripts/job": script, "a.txt": "a\n", "orders.sql": ".shell sh run.sh\n", "run.mk": "x:\n\tsh run.sh\n", "Makefile": "x:\n\tsh run.sh\n", "run.m4": "syscmd(`sh run.sh')\n",
	} {
		path := filepath.Join(dir, name)
		stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		stdtest.Must(t, os.WriteFile(path, []byte(text), 0o700)) //nolint:gosec // a script
	}
	rounds := 400
	if os.Getenv("SOAK") != "" {
		rounds = 10_000
	}
	random := rand.New(rand.NewPCG(3, 4))
	ran, asked := 0, 0
	for ran < rounds {
		program := programs[random.IntN(len(programs))]
		text := program
		for range 1 + random.IntN(3) {
			text += " " + words[random.IntN(len(words))]
		}
		rule := program + " *"
		if _, ok := ParseRule(rule, policy); !ok && len(strings.Fields(text)) > 1 {
			rule = program + " " + strings.Fields(text)[1] + " *" // a tool with a subcommand
		}
		if Decide(text, rule, policy) != Auto {
			asked++
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		cmd := exec.CommandContext(ctx, "sh", "-c", text)
		cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"PATH=" + bin, "HOME=" + dir}, time.Second
		_ = cmd.Run() // most commands are nonsense
		cancel()
		if _, err := os.Stat(marker); err == nil {
			t.Fatalf("%q runs without asking under %q, and runs a script", text, rule)
		}
	}
	t.Logf("%d commands ran, %d would have asked", ran, asked)
}
