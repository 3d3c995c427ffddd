package filestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/descriptors"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Names in the store's folder.
const (
	chatsDir = "chat"
	openDir  = "open"
	lockName = "lock"
	lockLook = 20 * time.Millisecond
)

// Options configure [Open]. All but Dir have defaults.
type Options struct {
	// Dir is the folder of all state. It is made if it is missing; it must not be a symbolic link.
	Dir string
	// Logger logs messages for operators; may be nil.
	Logger *slog.Logger
	// Registerer registers the metrics; may be nil.
	Registerer prometheus.Registerer
	// LockWait is how long Open waits for the lock of another process.
	LockWait time.Duration
	// OpenFiles bounds the descriptors of the store; 0 means 2048, or half of the process's limit if
	// that is less.
	OpenFiles int
	// Operations bounds the concurrent operations; 0 means 64. Concurrent operations share the
	// fsyncs of the disk, so more of them increase the throughput.
	Operations int
	// LedgerBytes is the size from which a ledger continues in a new file; 0 means 8 MiB.
	LedgerBytes int64
	// SearchText is how many characters of a context its index entry contains; 0 means
	// [journal.DefaultSearchText].
	SearchText int
	// FS replaces the file system in tests; nil means the machine's.
	FS vfs.FS
}

func (o *Options) defaults() {
	const (
		openFiles, fewestFiles = 2048, 8
		operations             = 64
		ledgerBytes            = 8 << 20
	)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = vfs.OS{}
	}
	if o.OpenFiles <= 0 {
		o.OpenFiles = openFiles
		if limit := vfs.OpenLimit(); limit > 0 {
			o.OpenFiles = min(o.OpenFiles, limit/2)
		}
	}
	o.OpenFiles = max(o.OpenFiles, fewestFiles)
	if o.Operations <= 0 {
		o.Operations = operations
	}
	// An operation needs at most two descriptors, so all of them can proceed.
	o.Operations = min(o.Operations, o.OpenFiles/2)
	if o.LedgerBytes <= 0 {
		o.LedgerBytes = ledgerBytes
	}
	if o.SearchText <= 0 {
		o.SearchText = journal.DefaultSearchText
	}
}

// Store is a [persistence.Store] in files.
type Store struct {
	dir     string
	fs      vfs.FS
	log     *slog.Logger
	metrics *metrics
	files   *descriptors.Pool
	slots   chan struct{}
	rotate  int64
	// searchText is how many characters of a context the index contains.
	searchText int
	wait       time.Duration // for the lock
	unlock     func() error
	buffers    sync.Pool
	padding    []byte // in which journals grow

	// markers says which shards' folders of markers are known to be durable.
	markers [chatpath.Shards]atomic.Bool

	mu     sync.Mutex
	closed bool
	open   map[messages.ChatKey]*chat
	most   int // most chats open at once since none was
}

// Open opens the store in a folder, which it locks: if another process keeps the lock for longer
// than LockWait, it fails with [persistence.ErrLocked]. The lock of a process that has ended is
// free.
func Open(o Options) (*Store, error) {
	s, err := newStore(o)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("open store in %s: %w", s.dir, err)
	}
	return s, nil
}

// newStore returns a store that has not touched the disk yet.
func newStore(o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("open store: no folder given")
	}
	o.defaults()
	return &Store{
		dir: path.Clean(o.Dir), fs: o.FS, log: o.Logger, metrics: newMetrics(o.Registerer), files: descriptors.New(o.FS, o.OpenFiles),
		padding: bytes.Repeat([]byte{linefile.Padding}, 16<<10),
		slots:   make(chan struct{}, o.Operations), rotate: o.LedgerBytes, searchText: o.SearchText, wait: o.LockWait, open: map[messages.ChatKey]*chat{},
		unlock: func() error { return nil },
	}, nil
}

// prepare makes the folders and takes the lock.
func (s *Store) prepare() error {
	if err := s.mkdirAll(s.dir); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	if err := s.makeFolders(); err != nil {
		return errors.Join(err, s.unlock())
	}
	return nil
}

// makeFolders makes the folders below the store's own. Their names are fsynced even if they exist:
// the process that made them may have been killed before it could.
func (s *Store) makeFolders() error {
	for _, name := range []string{chatsDir, openDir} {
		if _, err := s.mkdir(path.Join(s.dir, name)); err != nil {
			return err
		}
	}
	return s.fs.SyncDir(s.dir)
}

// lock takes the folder's lock, waiting as long as the options say.
func (s *Store) lock() error {
	late := time.NewTimer(s.wait)
	defer late.Stop()
	for {
		unlock, ok, err := s.fs.TryLock(path.Join(s.dir, lockName))
		switch {
		case err != nil:
			return fmt.Errorf("lock: %w", err)
		case ok:
			s.unlock = unlock
			return nil
		}
		select {
		case <-late.C:
			return persistence.ErrLocked
		case <-time.After(min(lockLook, s.wait)):
		}
	}
}

// mkdirAll makes a folder and its parents, durably. As in [Store.makeFolders], an existing one may
// not be durable yet.
func (s *Store) mkdirAll(dir string) error {
	made, err := s.mkdir(dir)
	if isMissing(err) && path.Dir(dir) != dir {
		if err := s.mkdirAll(path.Dir(dir)); err != nil {
			return err
		}
		made, err = s.mkdir(dir)
	}
	if err != nil {
		return err
	}
	err = s.fs.SyncDir(path.Dir(dir))
	if !made && errors.Is(err, fs.ErrPermission) {
		return nil // another process made it meanwhile, and may not have fsynced it
	}
	return err
}

// mkdir makes one folder. It may exist, unless it is something else or a symbolic link.
func (s *Store) mkdir(dir string) (made bool, err error) {
	if err := s.fs.Mkdir(dir); !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	return false, s.checkDir(dir)
}

func (s *Store) checkDir(dir string) error {
	info, err := s.fs.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder: %s", dir, info.Mode().Type())
	}
	return nil
}

// enter waits for one of the slots for operations.
func (s *Store) enter(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Store) leave() { <-s.slots }

// errOpen is the cause of refusing a second handle.
var errOpen = errors.New("chat is open already")

// OpenChat implements [persistence.Store]. It touches no file.
func (s *Store) OpenChat(_ context.Context, key messages.ChatKey) (persistence.Chat, error) {
	c, err := s.openChat(key)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s *Store) openChat(key messages.ChatKey) (*chat, error) {
	folder, err := chatpath.Encode(key)
	if err != nil {
		return nil, fmt.Errorf("open chat: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &persistence.Error{Op: "open", Chat: string(key), Cause: persistence.ErrClosed}
	case s.open[key] != nil:
		return nil, &persistence.Error{Op: "open", Chat: string(key), Cause: errOpen, Retryable: true}
	}
	c := newChat(s, key, folder)
	s.open[key] = c
	s.most = max(s.most, len(s.open))
	return c, nil
}

// ChatDir is the folder of a chat, for other data of the chat than its messages. It may not exist
// yet.
func (s *Store) ChatDir(key messages.ChatKey) (string, error) { return ChatDir(s.dir, key) }

// ChatDir is the folder of a chat below a store's folder, even if no store is open there.
func ChatDir(dir string, key messages.ChatKey) (string, error) {
	folder, err := chatpath.Encode(key)
	if err != nil {
		return "", err
	}
	return path.Join(dir, chatsDir, folder), nil
}

// Chats implements [persistence.Store].
func (s *Store) Chats(ctx context.Context) iter.Seq2[messages.ChatKey, error] {
	return func(yield func(messages.ChatKey, error) bool) {
		s.walk(ctx, path.Join(s.dir, chatsDir), "", true, yield)
	}
}

// walk yields the keys whose encoded path is below a folder: those of folders or those of files.
// Anything else is logged and skipped.
func (s *Store) walk(ctx context.Context, root, under string, dirs bool, yield func(messages.ChatKey, error) bool) bool {
	if err := s.usable(ctx); err != nil {
		return yield("", err)
	}
	entries, err := s.list(ctx, path.Join(root, under))
	if err != nil {
		return yield("", fmt.Errorf("list chats: %w", err))
	}
	for _, e := range entries {
		name := path.Join(under, e.Name())
		if e.IsDir() && strings.HasSuffix(name, string(chatpath.Continues)) {
			if !s.walk(ctx, root, name, dirs, yield) {
				return false
			}
			continue
		}
		key, err := chatpath.Decode(name)
		if err != nil || e.IsDir() != dirs {
			s.log.WarnContext(ctx, "a file among the chats is not a chat and is ignored", "folder", root, "name", name)
			continue
		}
		if !yield(key, nil) {
			return false
		}
	}
	return true
}

// list returns the entries of a folder; a missing folder is empty.
func (s *Store) list(ctx context.Context, dir string) (entries []fs.DirEntry, err error) {
	err = s.files.Once(ctx, func() error {
		entries, err = s.fs.ReadDir(dir)
		return err
	})
	if isMissing(err) {
		return nil, nil
	}
	return entries, err
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func (s *Store) usable(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return persistence.ErrClosed
	}
	return context.Cause(ctx)
}

// Close implements [persistence.Store]. It waits for operations in progress.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	chats := s.open
	s.open = nil
	s.mu.Unlock()
	for _, c := range chats {
		c.shut()
	}
	return s.unlock()
}

// forget removes a closed handle.
func (s *Store) forget(c *chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[c.key] == c {
		delete(s.open, c.key)
	}
	if len(s.open) == 0 && s.most > 1024 { // maps never shrink
		s.open, s.most = map[messages.ChatKey]*chat{}, 0
	}
}

// buffer is reusable memory for lines.
type buffer struct{ b []byte }

func (s *Store) buffer() *buffer {
	if b, ok := s.buffers.Get().(*buffer); ok {
		return b
	}
	return &buffer{}
}

func (s *Store) release(b *buffer) {
	if cap(b.b) > vfs.Window {
		return // rare, and too large to keep
	}
	b.b = b.b[:0]
	s.buffers.Put(b)
}
