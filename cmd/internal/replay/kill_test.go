package replay

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	kills = 5
	// killFor is how long people talk while the host is killed.
	killFor = 6 * time.Second
)

// binary is the real program on a project.
type binary struct {
	path, dir string
	env       []string
	log       *platformtest.Log
	cmd       *exec.Cmd
}

func build(t *testing.T, w *town, dir string) *binary {
	t.Helper()
	b := &binary{path: filepath.Join(t.TempDir(), "sma"), dir: dir, log: &platformtest.Log{}}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", b.path, "github.com/shipmyagent/shipmyagent/cmd/sma").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	b.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for name, value := range w.env() {
		b.env = append(b.env, name+"="+value)
	}
	return b
}

func (b *binary) start(t *testing.T) {
	t.Helper()
	b.cmd = exec.CommandContext(t.Context(), b.path, "run", b.dir)
	b.cmd.Env, b.cmd.Stdout, b.cmd.Stderr = b.env, b.log, b.log
	stdtest.Must(t, b.cmd.Start())
}

// kill ends the host as a power cut would, but for the disk.
func (b *binary) kill(t *testing.T) {
	t.Helper()
	stdtest.Must(t, b.cmd.Process.Kill())
	err := b.cmd.Wait()
	if status, ok := b.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the host ended before it was killed: %v\n%s", err, b.log)
	}
}

// stop ends the host politely.
func (b *binary) stop(t *testing.T) {
	t.Helper()
	stdtest.Must(t, b.cmd.Process.Signal(syscall.SIGTERM))
	if err := b.cmd.Wait(); err != nil {
		t.Errorf("stop: %v\n%s", err, b.log)
	}
}

// query runs a command that answers in JSON.
func (b *binary) query(t *testing.T, into any, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), b.path, append(args, "--json", "--dir", b.dir)...)
	cmd.Env, cmd.Stderr = b.env, b.log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b.log)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// book reads a chat by the commands that people use.
func (b *binary) book(t *testing.T, p *place) book {
	t.Helper()
	var show struct {
		Counts platform.Counts       `json:"counts"`
		Ledger []journal.LedgerEntry `json:"ledger"`
	}
	var export struct {
		Messages []turn `json:"messages"`
	}
	b.query(t, &show, "chats", "show", string(p.key()), "--last", "1000000")
	b.query(t, &export, "chats", "export", string(p.key()))
	return book{counts: show.Counts, history: export.Messages, ledger: show.Ledger}
}

// cut is how much had been sent to each room when the host was killed.
type cut map[*place]int

// checkKills plays the rooms with kills and holds the books against each other.
func (w *town) checkKills(t *testing.T, seed uint64) {
	t.Helper()
	b := build(t, w, w.project(t, config.EgressTool, config.GroupsMention))
	cuts := w.playWithKills(t, b, rand.New(rand.NewPCG(seed, 0)))
	b.stop(t)

	w.checkRequests(t)
	copies := w.checkSent(t, func(p *place, i int) bool {
		for _, c := range cuts {
			if i == c[p] || i == c[p]+1 { // the one before was the last, or was under way
				return true
			}
		}
		return false
	})
	t.Logf("%d copies after %d kills", len(copies), kills)
	if len(copies) > kills {
		t.Errorf("%d messages were sent twice in %d kills", len(copies), kills)
	}
	for _, p := range w.places {
		w.checkBook(t, p, b.book(t, p), copies)
	}
	noSecrets(t, w.env(), b.log.String())
}

// playWithKills sends all lines and kills the host at random places among them, every other time while a message is
// being sent to people, where a crash is most harmful. People continue to write while the host is down. Between kills
// everybody gets an answer, because a run that is killed three times is given up.
func (w *town) playWithKills(t *testing.T, b *binary, random *rand.Rand) []cut {
	t.Helper()
	const unanswered = 20 // lines said while the host is down
	var cuts []cut
	script := w.script()
	pace := killFor / time.Duration(len(script))
	feed := func(lines []due) {
		stdtest.Must(t, w.feed(t.Context(), lines, pace*time.Duration(len(lines))))
	}
	b.start(t)
	for i := range kills {
		n := len(script) / (kills + 1 - i)
		part := script[:n]
		script = script[n:]
		at := n/8 + random.IntN(n/2)
		feed(part[:at])
		if i%2 == 0 {
			at += w.sayUntilSent(t, part[at:])
		}
		b.kill(t)
		c := cut{}
		for _, p := range w.places {
			c[p] = len(w.api.Sent(p.chat))
		}
		cuts = append(cuts, c)
		down := min(at+unanswered, n)
		for _, d := range part[at:down] {
			w.say(d.place, d.line)
		}
		b.start(t)
		feed(part[down:])
		w.awaitAnswers(t)
	}
	feed(script)
	w.awaitAnswers(t)
	return cuts
}

// sayUntilSent says lines up to the next that asks the bot, and returns once an
// answer to somebody is on its way.
func (w *town) sayUntilSent(t *testing.T, lines []due) (n int) {
	t.Helper()
	before := len(w.api.Calls("sendMessage"))
	for _, d := range lines {
		n++
		if w.say(d.place, d.line).addressed {
			w.api.AwaitCalls(t, "sendMessage", before+1)
			break
		}
	}
	return n
}

// num is an id as the ledger writes it.
func num(n int64) string { return strconv.FormatInt(n, 10) }
