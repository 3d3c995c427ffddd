package agentcontext

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// DefaultWindow is how many of the newest entries of a chat are not summarised.
const DefaultWindow = 200

const (
	// maxPending is how many entries may wait for the disk.
	maxPending = 4096
	// flushAfter is how long an entry waits for others, so that a busy chat's file is not opened for
	// each of its runs.
	flushAfter = 5 * time.Second
)

// errStopped means that the writer has ended.
var errStopped = errors.New("the run log is closed")

// Options of a log. Dir and Folder are required.
type Options struct {
	Dir string
	// Folder is the path of a chat below Dir, with slashes; ".jsonl" is added.
	Folder     func(messages.ChatKey) (string, error)
	Window     int // 0 means [DefaultWindow]
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Log is the run log of all chats, in files.
type Log struct {
	files   files
	log     *slog.Logger
	wake    chan struct{}        // has a token when the first entry is pending
	readers chan chan<- struct{} // each is closed once the entries pending before it are written
	stopped chan struct{}
	dropped prometheus.Counter

	mu      sync.Mutex
	pending map[messages.ChatKey][]runlog.Entry
	count   int // of the pending entries
}

// New makes a log. Nothing is written before [Log.Run].
func New(o Options) *Log {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	return &Log{
		files: files{dir: o.Dir, folder: o.Folder, window: o.Window, lines: map[uint64]int{}, seed: maphash.MakeSeed()},
		log:   o.Logger, wake: make(chan struct{}, 1), readers: make(chan chan<- struct{}), stopped: make(chan struct{}),
		dropped: promauto.With(o.Registerer).NewCounter(prometheus.CounterOpts{
			Name: "sma_run_log_dropped_total", Help: "Entries of the run log that were dropped because the disk was too slow or failed.",
		}),
	}
}

// AddRun adds the entry of a run whose end is durable. It never blocks: if too many entries wait for
// the disk, the entry is dropped and counted.
func (l *Log) AddRun(key messages.ChatKey, entry runlog.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count >= maxPending {
		l.dropped.Inc()
		return
	}
	if l.pending == nil {
		l.pending = map[messages.ChatKey][]runlog.Entry{}
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	l.pending[key] = append(l.pending[key], entry)
	l.count++
}

// Runs returns the entries of a chat, oldest first, including those added before the call. Old
// entries are replaced with one summary, at the head.
func (l *Log) Runs(ctx context.Context, key messages.ChatKey) ([]runlog.Entry, error) {
	reached := make(chan struct{})
	select {
	case l.readers <- reached:
	case <-l.stopped:
		return nil, errStopped
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case <-reached:
	case <-l.stopped:
		return nil, errStopped
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return l.files.read(key)
}

// ForgetRuns removes the file of a chat, with what is to be written to it before the call.
func (l *Log) ForgetRuns(ctx context.Context, key messages.ChatKey) error {
	if _, err := l.Runs(ctx, key); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	return Remove(l.files.dir, l.files.folder, key)
}

// Remove removes the file of a chat below a folder, where no [Log] runs.
func Remove(dir string, folder func(messages.ChatKey) (string, error), key messages.ChatKey) error {
	path, err := (&files{dir: dir, folder: folder}).path(key)
	if err != nil {
		return err
	}
	if err := (document.Disk{}).Remove(path); err != nil {
		return fmt.Errorf("remove the log of runs: %w", err)
	}
	return nil
}

// Run writes until ctx ends, and then what waits. It is called once.
func (l *Log) Run(ctx context.Context) {
	defer close(l.stopped)
	defer l.flush()
	var due <-chan time.Time // nil while nothing is pending
	for {
		select {
		case <-l.wake:
			if due == nil {
				due = time.After(flushAfter)
			}
			continue
		case <-due:
			l.flush()
		case reached := <-l.readers:
			l.flush()
			close(reached)
		case <-ctx.Done():
			return
		}
		due = nil
	}
}

// flush writes the pending entries.
func (l *Log) flush() {
	l.mu.Lock()
	pending := l.pending
	l.pending, l.count = nil, 0
	l.mu.Unlock()
	for key, entries := range pending {
		if err := l.files.add(key, entries); err != nil {
			l.dropped.Add(float64(len(entries)))
			l.log.Warn("the record of a run was not stored", "chat_key", string(key), "run_id", entries[0].RunID, "error", err)
		}
	}
}
