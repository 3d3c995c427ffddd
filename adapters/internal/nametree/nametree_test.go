package nametree_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/internal/nametree"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func write(t *testing.T, path string) {
	t.Helper()
	stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o600)))
}

// find returns what a tree finds, relative to its root.
func find(t *testing.T, tree *nametree.Tree, root string) []string {
	t.Helper()
	found, err := tree.Find(t.Context())
	stdtest.Must(t, err)
	var out []string
	for _, p := range found {
		out = append(out, strings.TrimPrefix(p.Path, root+"/"))
	}
	return out
}

func TestNamesAreFoundAnywhere(t *testing.T) {
	root := t.TempDir()
	deep := strings.Repeat("d/", 500)
	names := []string{
		".env", "a/b/c/d/e/f/g/.env.local", "node_modules/x/.npmrc", ".git/modules/x/id_rsa", "vendor/x/y/testdata/server.key", ".ENV", "x/Server.PEM",
		"x/new\nline/.env", "x/.env\nfoo", "x/\u00e9/.env", "x/.\uff45nv", "x/.e\u200bnv", deep + ".env", "x/ .env.d/sub/.env", "x/-rf/.env", "x/*/.env",
	}
	for _, name := range names {
		write(t, filepath.Join(root, name))
	}
	for _, name := range []string{"env", "x/key", "x/.environment.go", "src/main.go", "x/cacert.pem"} {
		write(t, filepath.Join(root, name))
	}
	// Matching folders count as a whole, and links are not followed.
	write(t, filepath.Join(root, "y/.ssh/id_rsa"))
	write(t, filepath.Join(root, "y/.aws/credentials"))
	outside := t.TempDir()
	write(t, filepath.Join(outside, ".env"))
	stdtest.Must(t, errors.Join(os.Symlink(outside, filepath.Join(root, "link")), os.Symlink(root, filepath.Join(root, "loop")), os.Symlink("env", filepath.Join(root, "y/.env"))))
	want := slices.Concat(names, []string{"y/.ssh", "y/.aws", "y/.env", "x/.environment.go"})
	slices.Sort(want)
	got := find(t, nametree.New(root, nametree.Options{Kind: kind, Whole: secret}), root)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Files deeper than the maximum path length are covered by a folder that can be named.
func TestPathsBeyondTheKernelsLimit(t *testing.T) {
	root := t.TempDir()
	at, err := unix.Open(root, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	stdtest.Must(t, err)
	name := strings.Repeat("d", 200)
	for range 40 { // 8,000 bytes
		stdtest.Must(t, unix.Mkdirat(at, name, 0o755))
		next, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		stdtest.Must(t, err)
		_ = unix.Close(at)
		at = next
	}
	tree := nametree.New(root, nametree.Options{Kind: kind})
	if got := find(t, tree, root); len(got) != 0 {
		t.Errorf("found %d", len(got))
	}
	fd, err := unix.Openat(at, ".env", unix.O_CREAT|unix.O_WRONLY, 0o600)
	stdtest.Must(t, err)
	_, _ = unix.Close(fd), unix.Close(at)
	found, err := tree.Find(t.Context())
	if err != nil || len(found) != 1 || found[0].Kind != nametree.Closed || !found[0].Dir {
		t.Fatalf("found %v, %v", found, err)
	}
	if n := len(found[0].Path); n < 3000 || n > 4000 {
		t.Errorf("a path of %d bytes", n)
	}
	if _, err := os.Stat(found[0].Path); err != nil {
		t.Error(err)
	}
}

// A folder that cannot be searched is covered as a whole, because its content is unknown, or cannot
// be named individually.
func TestClosedFolders(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a/shut/x/.env"))
	write(t, filepath.Join(root, "a/empty/x/y"))
	for _, name := range []string{"a/shut", "a/empty"} {
		stdtest.Must(t, os.Chmod(filepath.Join(root, name), 0o600))
	}
	want := []string{"a/shut"}
	if os.Geteuid() != 0 { // without power over files it cannot be checked
		want = []string{"a/empty", "a/shut"}
	}
	if d := cmp.Diff(want, find(t, nametree.New(root, nametree.Options{Kind: kind}), root)); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"a/shut", "a/empty"} {
		_ = os.Chmod(filepath.Join(root, name), 0o700) // so that the test's own folder can be removed
	}
}

func TestExcludedFoldersAreNotLookedInto(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "big/x/.env"))
	write(t, filepath.Join(root, "small/.env"))
	tree := nametree.New(root, nametree.Options{Kind: kind, Exclude: []string{filepath.Join(root, "big")}})
	if d := cmp.Diff([]string{"small/.env"}, find(t, tree, root)); d != "" {
		t.Error(d)
	}
}

func TestBounds(t *testing.T) {
	root := t.TempDir()
	for i := range 60 {
		write(t, filepath.Join(root, "src/big/x"+strconv.Itoa(i%3), ".env"+strconv.Itoa(i)))
		write(t, filepath.Join(root, "src/small", strconv.Itoa(i)))
	}
	write(t, filepath.Join(root, "other/file"))
	for name, tt := range map[string]struct {
		names, folders, found int
		folder                string
	}{
		"names":   {names: 100, folder: "src"},
		"folders": {folders: 5, folder: "src"},
		"found":   {found: 59, folder: "src/big"},
	} {
		_, err := nametree.Limited(root, nametree.Options{Kind: kind}, tt.names, tt.folders, tt.found).Find(t.Context())
		large, ok := errors.AsType[*nametree.TooLargeError](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.HasPrefix(large.Folder, tt.folder) || large.Root != root || large.Why == "" {
			t.Errorf("%s: %+v", name, large)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := nametree.New(root, nametree.Options{Kind: kind}).Find(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a look that was cut short: %v", err)
	}
	if _, err := nametree.New(filepath.Join(root, "none"), nametree.Options{Kind: kind}).Find(t.Context()); err == nil {
		t.Error("a folder that is not there is empty")
	}
}

// reference finds the paths in the simplest way.
func reference(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && path != root && kind(e.Name()) != 0 {
			out = append(out, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	stdtest.Must(t, err)
	slices.Sort(out)
	return out
}

// Whatever changes between two scans, the second finds the current names: names that are added, removed and renamed,
// and folders that are moved, replaced and swapped, right before a scan and right after it.
func TestEveryChangeIsSeen(t *testing.T) {
	rounds := 400
	if os.Getenv("SOAK") != "" {
		rounds = 20_000
	}
	root := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	folders := []string{root}
	for i := range 30 {
		dir := filepath.Join(folders[random.IntN(len(folders))], "d"+strconv.Itoa(i))
		stdtest.Must(t, os.Mkdir(dir, 0o755))
		folders = append(folders, dir)
	}
	pick := func() string {
		for {
			dir := folders[random.IntN(len(folders))]
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				return dir
			}
		}
	}
	tree := nametree.New(root, nametree.Options{Kind: kind})
	for round := range rounds {
		for range random.IntN(4) {
			name := []string{".env", "x.key", "plain", "id_rsa"}[random.IntN(4)]
			switch at := filepath.Join(pick(), name); random.IntN(6) {
			case 0, 1:
				_ = os.WriteFile(at, nil, 0o600) // it may exist
			case 2:
				_ = os.Remove(at) // it may not exist
			case 3:
				_ = os.Rename(at, filepath.Join(pick(), name)) // as above
			case 4:
				a, b := pick(), pick()
				exchange(a, b)
			case 5:
				if from := pick(); from != root {
					_ = os.Rename(from, filepath.Join(pick(), "moved"+strconv.Itoa(round))) // as above
					folders = append(folders, filepath.Join(pick(), "moved"+strconv.Itoa(round)))
				}
			}
		}
		if round%3 == 0 {
			nametree.Age(tree)
		}
		got := find(t, tree, root)
		slices.Sort(got)
		if d := cmp.Diff(reference(t, root), got); d != "" {
			t.Fatalf("round %d: %s", round, d)
		}
	}
}
