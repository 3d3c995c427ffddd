package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

const (
	// maxJobs is how many background processes of a host may run, and maxEnded how many ended ones are remembered.
	maxJobs  = 16
	maxEnded = 64
	// keepEnded is how long an ended process is remembered whose output nobody has read.
	keepEnded = time.Hour
	// lastWords is how much of the output a notice contains.
	lastWords = 1000
)

var errNoJob = errors.New("no such process; shell_status lists those of this chat")

// Ended reports a process that ended by itself.
type Ended struct {
	ID      string // of the process, never reused
	Run     tool.Run
	Command string
	Exit    sandbox.Exit
	Failure string // why it was ended, unless it was a limit
	Took    time.Duration
	Tail    string // the end of the output
}

// job is a background process.
type job struct {
	id      string
	run     tool.Run // that started it
	command string
	bind    string
	began   time.Time
	proc    sandbox.Process
	watched *watched // nil if there is nothing to hide from it
	stdin   *os.File // the end that the host writes to
	typing  sync.Mutex
	typed   string // the last text that was typed; guarded by typing
	out     *ring
	kept    *spill
	done    chan struct{} // closed when it has ended

	// Guarded by the shell's mutex.
	read    int64 // how much of the output was read
	stopped bool  // by the chat, which then needs no notice
	ended   time.Time
	exit    sandbox.Exit
	failure string // why the outcome is unknown
}

// Write implements [io.Writer] for both output streams of the process.
func (j *job) Write(p []byte) (int, error) {
	n, err := j.out.Write(p)
	_, _ = j.kept.Write(p) // an error only affects the stored file: the newest output stays in memory
	return n, err
}

// launch starts a background process.
func (s *Shell) launch(ctx context.Context, call tool.Call, p *plan) (tool.Result, error) {
	j := &job{
		id: "p" + strings.ToLower(rand.Text()[:10]), run: call.Run, command: p.label(), bind: p.bind, began: s.opts.Now(),
		out: &ring{}, done: make(chan struct{}),
	}
	j.kept = s.spill(call)
	j.kept.most = max(s.opts.Most, tool.DefaultMost)
	if err := s.enter(j); err != nil {
		return tool.Result{}, err
	}
	if err := s.begin(ctx, j, p); err != nil {
		s.leave(j)
		return tool.Result{}, err
	}
	doc, err := plainjson.Append(nil, map[string]any{"id": j.id, "state": "running"})
	if err != nil { // Unreachable: strings only
		return tool.Result{}, err
	}
	return tool.Result{Output: doc, Summary: tool.Shorten(j.command, 300) + " → in the background as " + j.id}, nil
}

// enter registers a job, unless there are too many.
func (s *Shell) enter(j *job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return errors.New("the host is about to stop")
	}
	s.prune()
	working, ours := 0, []string{}
	for _, old := range s.jobs {
		if old.ended.IsZero() {
			working++
			if old.run.ChatKey == j.run.ChatKey {
				ours = append(ours, old.id)
			}
		}
	}
	if working >= maxJobs {
		return fmt.Errorf("%d processes run in the background of this host already, which is the most; of this chat: %s. Stop one that is not needed with shell_stop, or try again later",
			working, strings.Join(append(ours, "none")[:max(1, len(ours))], ", "))
	}
	s.jobs = append(s.jobs, j)
	s.work.Add(1)
	return nil
}

// leave removes a job whose process could not be started.
func (s *Shell) leave(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(o *job) bool { return o == j })
	s.work.Done()
}

// begin starts the process and watches it.
func (s *Shell) begin(ctx context.Context, j *job, p *plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	home, err := s.newHome()
	if err != nil {
		return err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		s.dropHome(home)
		return fmt.Errorf("make the process's input: %w", err)
	}
	life, cancel := context.WithCancel(s.ctx)
	j.stdin = ours
	masked := s.masked(j)
	proc, watched, err := s.start(life, p, home, theirs, masked, j.out.end)
	if err != nil {
		cancel()
		s.dropHome(home)
		return errors.Join(err, theirs.Close(), ours.Close())
	}
	s.mu.Lock()
	j.proc, j.watched = proc, watched
	s.mu.Unlock()
	go func() {
		defer s.work.Done()
		exit, err := proc.Wait()
		err = watched.replaced(err)
		cancel()
		_, _ = theirs.Close(), ours.Close() // later writes fail
		_ = masked.Close()                  // j takes everything
		if strange := watched.over(s.ctx); strange != nil {
			j.kept.drop()
			err = strange
		}
		j.kept.close()
		s.dropHome(home)
		s.over(j, exit, err)
	}()
	return nil
}

// over records the end of a process, and notifies the chat unless it stopped the process itself.
func (s *Shell) over(j *job, exit sandbox.Exit, err error) {
	s.mu.Lock()
	j.ended, j.exit = s.opts.Now(), exit
	if err != nil {
		j.failure = err.Error()
	}
	tell := s.opts.Notify != nil && !j.stopped && s.ctx.Err() == nil
	s.prune()
	s.mu.Unlock()
	close(j.done)
	if !tell {
		return
	}
	last := j.printed()
	tail, at := j.out.read(last-lastWords, lastWords)
	tail = tail[:max(0, min(int64(len(tail)), last-at))]
	e := Ended{
		ID: j.id, Run: j.run, Command: j.command, Exit: exit, Failure: j.failure, Took: j.ended.Sub(j.began).Round(time.Millisecond),
		Tail: strings.ToValidUTF8(string(tail), "\uFFFD"),
	}
	defer func() {
		if v := recover(); v != nil {
			s.opts.Logger.Error("the notification about a background process failed", "panic", fmt.Sprint(v))
		}
	}()
	s.opts.Notify(s.ctx, e)
}

// printed is the end of the output that may be shown.
func (j *job) printed() int64 { return j.watched.released(j.out.end()) }

// prune forgets ended processes: those whose output nobody has read for long, and the oldest if there are many. The
// caller holds the mutex.
func (s *Shell) prune() {
	now := s.opts.Now()
	ended := 0
	for _, j := range s.jobs {
		if !j.ended.IsZero() {
			ended++
		}
	}
	s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
		if j.ended.IsZero() {
			return false
		}
		if ended > maxEnded || now.Sub(j.ended) > keepEnded {
			ended--
			return true
		}
		return false
	})
}

// job finds a process of a chat.
func (s *Shell) job(run tool.Run, id string) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	for _, j := range s.jobs {
		if j.id == id && j.run.ChatKey == run.ChatKey && j.proc != nil {
			return j, nil
		}
	}
	return nil, errNoJob
}

// of are the processes of a chat, in the order of their start.
func (s *Shell) of(chat messages.ChatKey) []*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	var out []*job
	for _, j := range s.jobs {
		if j.run.ChatKey == chat && j.proc != nil {
			out = append(out, j)
		}
	}
	return out
}

// followUp is a tool for the processes of a chat.
type followUp struct {
	tool.Described

	sh *Shell
}

func (f *followUp) Useful(chat messages.ChatKey) bool { return len(f.sh.of(chat)) > 0 }

// state is a process as models see it.
type state struct {
	ID       string `json:"id"`
	Command  string `json:"command,omitempty"`
	State    string `json:"state"` // running or ended
	ForS     int64  `json:"forS"`  // how long it has run, or ran
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Limit    string `json:"limit,omitempty"`
	Error    string `json:"error,omitempty"`
	Unread   int64  `json:"unreadBytes,omitempty"`
}

func (s *Shell) state(j *job) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := state{ID: j.id, State: "running", ForS: int64(s.opts.Now().Sub(j.began).Seconds()), Unread: max(0, j.printed()-j.read)}
	if !j.ended.IsZero() {
		code := j.exit.Code
		out.State, out.ForS = "ended", int64(j.ended.Sub(j.began).Seconds())
		out.ExitCode, out.Signal, out.Limit, out.Error = &code, j.exit.Signal, j.exit.Limit, j.failure
	}
	return out
}

// wasRead records what was read of a process. An ended process is forgotten once all of its output was read. Reading
// past the end does not count.
func (s *Shell) wasRead(j *job, from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from == to && from > j.read {
		return
	}
	j.read = max(j.read, to)
	if !j.ended.IsZero() && j.read >= j.printed() {
		s.jobs = slices.DeleteFunc(s.jobs, func(o *job) bool { return o == j })
	}
}
