package nametree_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/nametree"
	"github.com/shipmyagent/shipmyagent/messages/secretfile"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const secret nametree.Kind = 1

// kind is that of the command sandbox, the most expensive one.
func kind(name string) nametree.Kind {
	if secretfile.Named(secretfile.Normalize(name)) {
		return secret
	}
	return 0
}

// grow creates folders of 20 names each, four of them folders as long as more are needed. Some of
// the names are secrets.
func grow(tb testing.TB, root string, names int) (secrets int) {
	tb.Helper()
	const each, folders, every = 20, 4, 1000
	queue := []string{root}
	for made := 0; made < names; {
		dir := queue[0]
		queue = queue[1:]
		files := each
		if made+len(queue)*each < names {
			files -= folders
		}
		for i := range files {
			name := "module_file_" + strconv.Itoa(made+i) + ".js"
			if (made+i)%every == 0 && made > 0 {
				name, secrets = ".env."+strconv.Itoa(made+i), secrets+1
			}
			f, err := os.Create(filepath.Join(dir, name))
			stdtest.Must(tb, err)
			_ = f.Close()
		}
		for i := range each - files {
			below := filepath.Join(dir, "package-"+strconv.Itoa(i))
			stdtest.Must(tb, os.Mkdir(below, 0o755))
			queue = append(queue, below)
		}
		made += each
	}
	return secrets
}

// A tree of a million names is searched within two seconds, the first time too. That size is used
// with SOAK, otherwise fifty thousand names with the same time limit.
func TestAMillionNames(t *testing.T) {
	names := 50_000
	if os.Getenv("SOAK") != "" {
		names = 1_000_000
	}
	root := t.TempDir()
	want := grow(t, root, names)
	tree := nametree.Limited(root, nametree.Options{Kind: kind}, 0, 0, 1<<20)
	for _, look := range []string{"first", "second", "third"} {
		began := time.Now()
		found, err := tree.Find(t.Context())
		took := time.Since(began)
		stdtest.Must(t, err)
		if len(found) != want {
			t.Errorf("%s: found %d, want %d", look, len(found), want)
		}
		t.Logf("%s look at %d names: %s", look, names, took)
		if took > 2*time.Second {
			t.Errorf("%s look took %s", look, took)
		}
		if look == "second" {
			nametree.Settle(tree)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	root := b.TempDir()
	grow(b, root, 100_000)
	for _, known := range []bool{false, true} {
		b.Run("known="+strconv.FormatBool(known), func(b *testing.B) {
			tree := nametree.Limited(root, nametree.Options{Kind: kind}, 0, 0, 1<<20)
			if known {
				if _, err := tree.Find(b.Context()); err != nil {
					b.Fatal(err)
				}
				nametree.Settle(tree)
			}
			for b.Loop() {
				if !known {
					tree = nametree.Limited(root, nametree.Options{Kind: kind}, 0, 0, 1<<20)
				}
				if _, err := tree.Find(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
