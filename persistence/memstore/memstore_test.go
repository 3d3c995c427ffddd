package memstore_test

import (
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memstore"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

func TestSuite(t *testing.T) {
	disks := map[persistence.Store]*memstore.Disk{}
	storetest.Run(t, func(t *testing.T) persistence.Store {
		t.Helper()
		disk := memstore.NewDisk()
		s, err := memstore.Open(disk)
		if err != nil {
			t.Fatal(err)
		}
		disks[s] = disk
		return s
	}, func(_ *testing.T, old persistence.Store) persistence.Store {
		s := memstore.Crash(disks[old])
		disks[s] = disks[old]
		return s
	})
}

func TestLock(t *testing.T) {
	disk := memstore.NewDisk()
	first, err := memstore.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := memstore.Open(disk); !errors.Is(err, persistence.ErrLocked) {
		t.Fatalf("second store: %v, want ErrLocked", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := memstore.Open(disk); err != nil {
		t.Fatal(err)
	}
}

func TestNewStandsAlone(t *testing.T) {
	for range 2 {
		s := memstore.New()
		c, err := s.OpenChat(t.Context(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AppendHistory(t.Context(), storetest.Turn(1)); err != nil {
			t.Fatal(err)
		}
		snap, err := c.Load(t.Context())
		if err != nil || len(snap.History) != 1 {
			t.Fatalf("%d turns, %v", len(snap.History), err)
		}
	}
}
