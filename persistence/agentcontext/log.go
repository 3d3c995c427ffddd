package agentcontext

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// DefaultWindow is how many of the newest entries of a chat are not summarised.
const DefaultWindow = 200

// maxQueue is how many entries may wait for the disk.
const maxQueue = 4096

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
	work    chan *work // pointers, so that an empty queue needs little memory
	stopped chan struct{}
	dropped prometheus.Counter
}

// work is an entry to write, or a reader that waits for the entries queued before it.
type work struct {
	key   messages.ChatKey
	entry runlog.Entry
	reach chan<- struct{} // nil for an entry
}

// New makes a log. Nothing is written before [Log.Run].
func New(o Options) *Log {
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	return &Log{
		files: files{dir: o.Dir, folder: o.Folder, window: o.Window, lines: map[uint64]int{}, seed: maphash.MakeSeed()},
		log:   o.Logger, work: make(chan *work, maxQueue), stopped: make(chan struct{}),
		dropped: promauto.With(o.Registerer).NewCounter(prometheus.CounterOpts{
			Name: "sma_run_log_dropped_total", Help: "Entries of the run log that were dropped because the disk was too slow or failed.",
		}),
	}
}

// AddRun adds the entry of a run whose end is durable. It never blocks: if the queue is full, the
// entry is dropped and counted.
func (l *Log) AddRun(key messages.ChatKey, entry runlog.Entry) {
	select {
	case l.work <- &work{key: key, entry: entry}:
	default:
		l.dropped.Inc()
	}
}

// Runs returns the entries of a chat, oldest first, including those added before the call. Old
// entries are replaced with one summary, at the head.
func (l *Log) Runs(ctx context.Context, key messages.ChatKey) ([]runlog.Entry, error) {
	reached := make(chan struct{})
	select {
	case l.work <- &work{reach: reached}:
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
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the log of runs: %w", err)
	}
	return nil
}

// Run writes until ctx ends, and then what waits. It is called once.
func (l *Log) Run(ctx context.Context) {
	defer close(l.stopped)
	for {
		select {
		case w := <-l.work:
			l.do(w)
		case <-ctx.Done():
			for {
				select {
				case w := <-l.work:
					l.do(w)
				default:
					return
				}
			}
		}
	}
}

func (l *Log) do(w *work) {
	if w.reach != nil {
		close(w.reach)
		return
	}
	if err := l.files.add(w.key, w.entry); err != nil {
		l.dropped.Inc()
		l.log.Warn("the record of a run was not stored", "chat_key", string(w.key), "run_id", w.entry.RunID, "error", err)
	}
}
