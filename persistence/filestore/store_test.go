package filestore

import (
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// abandon drops a store as if its process had been killed: it only releases the lock.
func abandon(t *testing.T, s *Store) {
	t.Helper()
	must(t, s.unlock())
	s.unlock = func() error { return nil }
}

func openStore(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSuite(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
	}{
		{"defaults", Options{}},
		{"few of everything", Options{OpenFiles: 8, Operations: 2, LedgerBytes: 4000}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			options := map[persistence.Store]Options{}
			fresh := func(t *testing.T) persistence.Store {
				t.Helper()
				o := tc.o
				o.Dir = filepath.Join(t.TempDir(), "state")
				s := openStore(t, o)
				options[s] = o
				return s
			}
			storetest.Run(t, fresh, func(t *testing.T, old persistence.Store) persistence.Store {
				t.Helper()
				o := options[old]
				if s, ok := old.(*Store); ok {
					abandon(t, s)
				}
				s := openStore(t, o)
				options[s] = o
				return s
			})
		})
	}
}
