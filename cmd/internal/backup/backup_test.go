package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/secretfile"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// contents are the files below a folder, with their modes; links have their targets.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if target, err := os.Readlink(name); err == nil {
			out[rel] = "-> " + target
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		out[rel] = info.Mode().String() + " " + string(text)
		return err
	})
	stdtest.Must(t, err)
	return out
}

// newProject is a project with a chat and what else a folder may have.
func newProject(t *testing.T) (project, state string) {
	t.Helper()
	project = t.TempDir()
	state = filepath.Join(project, ".ship")
	stdtest.Write(t, filepath.Join(project, "Agent.md"), "Kind.")
	stdtest.Write(t, filepath.Join(project, ".env"), "KEY=secret")
	stdtest.Write(t, filepath.Join(project, "docs", "a\nb \\c 文"), "odd name")
	stdtest.Write(t, filepath.Join(project, ".git", "config"), "left out")
	stdtest.Write(t, filepath.Join(project, "web", "node_modules", "x", "x.js"), "left out")
	stdtest.Write(t, filepath.Join(project, ".ship.old", "access.json"), "left out")
	stdtest.Write(t, filepath.Join(state, "web.token"), "token")
	stdtest.Write(t, filepath.Join(state, "index", "search.db"), "left out")
	stdtest.Must(t, errors.Join(os.Symlink("Agent.md", filepath.Join(project, "link")), os.Symlink("/etc", filepath.Join(project, "outside")), os.Chmod(filepath.Join(project, "Agent.md"), 0o755)))
	store := open(t, state)
	appendTurns(t, store, "telegram-chat-1", 1, 3)
	stdtest.Must(t, store.Close())
	return project, state
}

func open(t *testing.T, dir string) *filestore.Store {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: dir})
	stdtest.Must(t, err)
	return store
}

func appendTurns(t *testing.T, store *filestore.Store, key messages.ChatKey, from, to int) {
	t.Helper()
	c, err := store.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	stdtest.Must(t, errors.Join(c.AppendHistory(t.Context(), storetest.Turns(from, to)...), c.Close()))
}

func TestSaveAndRestore(t *testing.T) {
	project, state := newProject(t)
	to := filepath.Join(t.TempDir(), "copy")
	report, err := Save(t.Context(), Options{Project: project, State: state, To: to, Version: "v1"})
	if err != nil || report.Chats != 1 || report.Damaged != nil || report.Files == 0 {
		t.Fatalf("saved %+v: %v", report, err)
	}
	want := contents(t, project)
	for _, name := range []string{".git/config", "web/node_modules/x/x.js", ".ship.old/access.json", ".ship/index/search.db", ".ship/lock"} {
		delete(want, name)
	}
	again := filepath.Join(t.TempDir(), "new", "place")
	back, err := Restore(t.Context(), Target{From: to, Project: again, State: filepath.Join(again, ".ship")})
	if err != nil || back.Files != report.Files || time.Since(back.Made) > time.Hour {
		t.Fatalf("restored %+v: %v", back, err)
	}
	if diff := cmp.Diff(want, contents(t, again)); diff != "" {
		t.Errorf("-saved +restored:\n%s", diff)
	}
	if _, err := Restore(t.Context(), Target{From: to, Project: again, State: filepath.Join(again, ".ship")}); !errors.Is(err, ErrOccupied) {
		t.Errorf("a second restore: %v, want ErrOccupied", err)
	}
	if diff := cmp.Diff(want, contents(t, again)); diff != "" {
		t.Errorf("a refused restore changed something (-saved +there):\n%s", diff)
	}
	stdtest.Must(t, os.Rename(filepath.Join(again, ".ship"), filepath.Join(again, "old")))
	stdtest.Write(t, filepath.Join(again, "Agent.md"), "Changed since.")
	if _, err := Restore(t.Context(), Target{From: to, Project: again, State: filepath.Join(again, ".ship"), OnlyState: true}); err != nil {
		t.Error(err)
	}
	if got := contents(t, again); got["Agent.md"] != "-rwxr-xr-x Changed since." || got[".ship/web.token"] != want[".ship/web.token"] {
		t.Errorf("only the state is restored: %v", got)
	}
}

// A clock that is behind the files does not make a backup fail.
func TestSaveOfFilesOfTheFuture(t *testing.T) {
	project, state := newProject(t)
	then := time.Now().Add(time.Hour)
	err := filepath.WalkDir(filepath.Join(state, "chat"), func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(name, then, then))
	})
	stdtest.Must(t, err)
	if r, err := Save(t.Context(), Options{Project: project, State: state, To: filepath.Join(t.TempDir(), "b")}); err != nil || r.Chats != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestSaveRefuses(t *testing.T) {
	project, state := newProject(t)
	used := t.TempDir()
	stdtest.Write(t, filepath.Join(used, "x"), "x")
	for _, to := range []string{project, state, filepath.Join(project, "backups", "1"), filepath.Join(state, "b"), used} {
		if _, err := Save(t.Context(), Options{Project: project, State: state, To: to}); err == nil {
			t.Errorf("a backup in %s", to)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	to := filepath.Join(t.TempDir(), "b")
	if _, err := Save(ctx, Options{Project: project, State: state, To: to}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := Restore(t.Context(), Target{From: to, Project: t.TempDir(), State: filepath.Join(t.TempDir(), "s")}); !errors.Is(err, ErrNoBackup) {
		t.Errorf("half a backup is restored: %v", err)
	}
}

// A restore works in a folder whose name is closed to the agent, whatever the state is called. What an earlier one left
// behind there when it failed is gone afterwards.
func TestRestoreWorksInAClosedFolder(t *testing.T) {
	project, state := newProject(t)
	dir := filepath.Join(t.TempDir(), "copy")
	if _, err := Save(t.Context(), Options{Project: project, State: state, To: dir}); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	left := filepath.Join(to, ".ship.restoring")
	stdtest.Write(t, filepath.Join(left, "access.json"), "of a restore that failed")
	if _, err := Restore(t.Context(), Target{From: dir, Project: to, State: filepath.Join(to, "mine")}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", left, err)
	}
	if !secretfile.Aside(filepath.Base(left)) {
		t.Errorf("%s is not closed to the agent", left)
	}
}

// dying is a context that ends after a number of looks at it.
type dying struct {
	context.Context //nolint:containedctx // it is one

	looks *int
}

func (d dying) Err() error {
	if *d.looks--; *d.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A restore that was interrupted anywhere can be repeated.
func TestRestoreAfterAnInterruptedOne(t *testing.T) {
	project, state := newProject(t)
	dir := filepath.Join(t.TempDir(), "copy")
	if _, err := Save(t.Context(), Options{Project: project, State: state, To: dir}); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "new")
	target := Target{From: dir, Project: to, State: filepath.Join(to, ".ship")}
	for n := 0; ; n++ {
		looks := n
		_, err := Restore(dying{context.Background(), &looks}, target)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d looks: %v", n, err)
		}
	}
}

// looked is a context that copies a folder at one of the looks at it, as a process that is killed there leaves it.
type looked struct {
	dying

	copy func()
}

func (l looked) Err() error {
	if *l.looks--; *l.looks == 0 {
		l.copy()
	}
	return nil
}

// A restore that was killed anywhere can be repeated, and leaves the same as one that was not.
func TestRestoreAfterAKilledOne(t *testing.T) {
	project, state := newProject(t)
	dir := filepath.Join(t.TempDir(), "copy")
	if _, err := Save(t.Context(), Options{Project: project, State: state, To: dir}); err != nil {
		t.Fatal(err)
	}
	for n, want := 1, map[string]string(nil); ; n++ {
		to, killed, looks := filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "new"), n
		ctx := looked{dying{t.Context(), &looks}, func() {
			if said, err := exec.CommandContext(t.Context(), "cp", "-a", to, killed).CombinedOutput(); err != nil && !strings.Contains(string(said), "No such file") {
				t.Error(string(said))
			}
		}}
		if _, err := Restore(ctx, Target{From: dir, Project: to, State: filepath.Join(to, ".ship")}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = contents(t, to)
		}
		if looks > 0 {
			break
		}
		if _, err := Restore(t.Context(), Target{From: dir, Project: killed, State: filepath.Join(killed, ".ship")}); err != nil {
			t.Fatalf("killed at look %d: %v", n, err)
		}
		if diff := cmp.Diff(want, contents(t, killed)); diff != "" {
			t.Fatalf("killed at look %d (-want +restored):\n%s", n, diff)
		}
	}
}

// A file of the project that is not the one of the backup is not replaced.
func TestRestoreReplacesNothing(t *testing.T) {
	project, state := newProject(t)
	dir := filepath.Join(t.TempDir(), "copy")
	if _, err := Save(t.Context(), Options{Project: project, State: state, To: dir}); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(string) error{
		"another text":  func(to string) error { return os.WriteFile(filepath.Join(to, "Agent.md"), []byte("Cruel"), 0o600) },
		"another link":  func(to string) error { return os.Symlink("Agent.md", filepath.Join(to, "outside")) },
		"a folder":      func(to string) error { return os.Mkdir(filepath.Join(to, "link"), 0o700) },
		"a file, above": func(to string) error { return os.WriteFile(filepath.Join(to, "docs"), nil, 0o600) },
		"a link, above": func(to string) error { return os.Symlink(t.TempDir(), filepath.Join(to, "docs")) },
	} {
		to := t.TempDir()
		stdtest.Must(t, make(to))
		was := contents(t, to)
		if _, err := Restore(t.Context(), Target{From: dir, Project: to, State: filepath.Join(to, ".ship")}); !errors.Is(err, ErrOccupied) {
			t.Errorf("%s: %v, want ErrOccupied", name, err)
		}
		if diff := cmp.Diff(was, contents(t, to)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

// A backup that is not what was saved is refused before anything is written.
func TestRestoreRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
	}{
		{"a changed byte", func(t *testing.T, dir string) {
			t.Helper()
			stdtest.Write(t, filepath.Join(dir, "project", ".env"), "KEY=secreT")
		}},
		{"a longer file", func(t *testing.T, dir string) {
			t.Helper()
			stdtest.Write(t, filepath.Join(dir, "project", ".env"), "KEY=secret ")
		}},
		{"a missing file", func(t *testing.T, dir string) {
			t.Helper()
			stdtest.Must(t, os.Remove(filepath.Join(dir, "state", "web.token")))
		}},
		{"no list", func(t *testing.T, dir string) {
			t.Helper()
			stdtest.Must(t, os.Remove(filepath.Join(dir, listName)))
		}},
		{"half a list", func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(s string) string { return s[:len(s)/2] })
		}},
		{"a list without its end", func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(s string) string { return s[:strings.LastIndex(strings.TrimSpace(s), "\n")+1] })
		}},
		{"a newer version", func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(s string) string { return strings.Replace(s, `{"v":1`, `{"v":2`, 1) })
		}},
		{"a way out", func(t *testing.T, dir string) {
			t.Helper()
			edit(t, dir, func(s string) string { return strings.Replace(s, `"project/.env"`, `"project/../../.env"`, 1) })
		}},
		{"a file through a link out of the backup", func(t *testing.T, dir string) {
			t.Helper()
			outside := filepath.Join(t.TempDir(), ".env")
			stdtest.Write(t, outside, "KEY=secret")
			name := filepath.Join(dir, "project", ".env")
			stdtest.Must(t, errors.Join(os.Remove(name), os.Symlink(outside, name)))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			project, state := newProject(t)
			dir := filepath.Join(t.TempDir(), "copy")
			if _, err := Save(t.Context(), Options{Project: project, State: state, To: dir}); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, dir)
			to := t.TempDir()
			if _, err := Restore(t.Context(), Target{From: dir, Project: to, State: filepath.Join(to, ".ship")}); !errors.Is(err, ErrNoBackup) {
				t.Errorf("%v, want ErrNoBackup", err)
			}
			if got := contents(t, to); len(got) > 0 {
				t.Errorf("written: %v", got)
			}
		})
	}
}

func edit(t *testing.T, dir string, change func(string) string) {
	t.Helper()
	name := filepath.Join(dir, listName)
	text := stdtest.Read(t, name)
	stdtest.Write(t, name, change(string(text)))
}

// Chats are written all the time while they are copied. Each copy is what the chat was at one moment: once its host has
// repeated a checkpoint that was in progress, its ledger matches its history, and nothing that was durable before the
// backup began is missing.
func TestSaveWhileChatsAreWritten(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".ship")
	store := open(t, state)
	const chats = 8
	var mu sync.Mutex
	durable := map[messages.ChatKey]int{}
	stop, done := make(chan struct{}), sync.WaitGroup{}
	for n := range chats {
		key := messages.ChatKey(fmt.Sprint("telegram-chat-", n))
		done.Go(func() {
			c, err := store.OpenChat(t.Context(), key)
			if err != nil {
				t.Error(err)
				return
			}
			tick := time.NewTicker(30 * time.Millisecond)
			defer tick.Stop()
			for i := 1; ; i++ {
				if err := turn(t.Context(), c, i); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				durable[key] = i
				mu.Unlock()
				select {
				case <-stop:
					if err := c.Close(); err != nil {
						t.Error(err)
					}
					return
				case <-tick.C:
				}
			}
		})
	}
	project := t.TempDir()
	for round := range 4 {
		mu.Lock()
		before := len(durable)
		least := maps.Clone(durable)
		mu.Unlock()
		to := filepath.Join(t.TempDir(), "copy")
		report, err := Save(t.Context(), Options{Project: project, State: state, To: to})
		if err != nil || report.Damaged != nil || report.Chats < before {
			t.Fatalf("round %d: %+v, %v", round, report, err)
		}
		consistent(t, filepath.Join(to, stateName), least)
	}
	close(stop)
	done.Wait()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// A chat that begins while others are copied is not in the backup: its files would be copied one after the other while
// they change.
func TestSaveWhileAChatBegins(t *testing.T) {
	project, state := newProject(t)
	store := open(t, state)
	to := filepath.Join(t.TempDir(), "copy")
	report, err := Save(t.Context(), Options{Project: project, State: state, To: to, Progress: func(int, int) {
		c, err := store.OpenChat(t.Context(), "telegram-chat-2")
		if err = errors.Join(err, turn(t.Context(), c, 1), c.Close()); err != nil {
			t.Error(err)
		}
	}})
	if err = errors.Join(err, store.Close()); err != nil || report.Chats != 1 {
		t.Fatalf("saved %+v: %v", report, err)
	}
	for name := range contents(t, to) {
		if strings.Contains(name, "telegram-chat-2") {
			t.Errorf("%s is in the copy", name)
		}
	}
}

// turn is what one message does to the files of a chat: a record, then a checkpoint with its turn.
func turn(ctx context.Context, c persistence.Chat, i int) error {
	n := int64(i)
	return errors.Join(c.Wake(ctx), c.Append(ctx, storetest.Facts(n, n)...), checkpoint(ctx, c, i))
}

func checkpoint(ctx context.Context, c persistence.Chat, i int) error {
	n := int64(i)
	return c.Checkpoint(ctx, journal.Checkpoint{History: storetest.Turns(i, i), Ledger: storetest.Entries(n, n), Meta: journal.Meta{Version: 1, N: n}})
}

func load(t *testing.T, c persistence.Chat) journal.Snapshot {
	t.Helper()
	snap, err := c.Load(t.Context())
	if err != nil || len(snap.Damage) > 0 {
		t.Fatalf("%v, damage %v", err, snap.Damage)
	}
	return snap
}

func consistent(t *testing.T, state string, least map[messages.ChatKey]int) {
	t.Helper()
	store := open(t, state)
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	var keys []messages.ChatKey
	for key, err := range store.Chats(t.Context()) {
		stdtest.Must(t, err)
		keys = append(keys, key)
		c, err := store.OpenChat(t.Context(), key)
		stdtest.Must(t, err)
		snap := load(t, c)
		if n := len(snap.Journal); n > 0 { // a pause within a checkpoint may be longer than a copy takes
			stdtest.Must(t, checkpoint(t.Context(), c, int(snap.Journal[n-1].N)))
			snap = load(t, c)
		}
		entries := 0
		for _, err := range c.Ledger(t.Context()) {
			stdtest.Must(t, err)
			entries++
		}
		turns := len(snap.History)
		if entries != 2*turns || turns < least[key] { // storetest has two entries a turn
			t.Errorf("%s has %d turns and %d entries in its ledger; %d turns were durable before", key, turns, entries, least[key])
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for key := range least {
		if !slices.Contains(keys, key) {
			t.Errorf("%s is missing", key)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("{\"v\":1}\n{\"path\":\"state/a\",\"sha256\":\"x\"}\n{\"files\":1}\n"))
	f.Add([]byte("{\"v\":1}\n{\"files\":0}"))
	f.Add([]byte("{\"v\":1}\n{\"path\":\"project/../../x\"}\n{\"files\":1}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, files, err := parse(raw)
		if err != nil && !errors.Is(err, ErrNoBackup) {
			t.Fatal(err)
		}
		for _, file := range files {
			if !filepath.IsLocal(file.Path) || strings.Contains("/"+file.Path+"/", "/../") {
				t.Errorf("a path that leads away: %q", file.Path)
			}
		}
	})
}

// A file that is replaced while it is copied is copied whole, as it was before or after.
func TestCopyOfAFileThatIsReplaced(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	stdtest.Must(t, err)
	defer func() { _ = root.Close() }()
	versions := []string{"short", strings.Repeat("long ", 100)}
	stdtest.Write(t, filepath.Join(dir, "x"), versions[0])
	stop, done := make(chan struct{}), sync.WaitGroup{}
	done.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				stdtest.Write(t, filepath.Join(dir, "next"), versions[n%2])
				if err := os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "x")); err != nil {
					t.Error(err)
				}
			}
		}
	})
	s := &saving{Options: Options{To: to}}
	for range 2000 {
		if _, err := s.copyFile(root, "x", "x"); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.Join(to, "x"))
		if err != nil || !slices.Contains(versions, string(text)) {
			t.Errorf("the copy has %d bytes: %v", len(text), err)
			break
		}
	}
	close(stop)
	done.Wait()
}
