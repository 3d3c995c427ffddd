package filestoretest

import (
	"hash/fnv"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// Choice chooses one of n possibilities, n > 1: it returns a number from 0 to n-1. Of the data that
// was not fsynced, 0 keeps the least and n-1 the most.
type Choice func(n int) int

// Nothing is the choice of a disk that kept only fsynced data.
func Nothing(int) int { return 0 }

// Everything is the choice of a disk that lost nothing.
func Everything(n int) int { return n - 1 }

func pick(choose Choice, n int) int {
	if n <= 1 {
		return 0
	}
	return min(max(choose(n), 0), n-1)
}

// Crash returns the disk after a power cut: everything fsynced survives, and the choice decides
// about the rest. The disk itself does not change; see [Disk.PowerOff].
func (d *Disk) Crash(choose Choice) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := d.keptNames(choose)
	seen := map[*node]*node{}
	var settle func(old *node) *node
	settle = func(old *node) *node {
		if n := seen[old]; n != nil {
			return n
		}
		n := &node{}
		seen[old] = n
		if old.entries == nil {
			n.file = old.file.crash(choose)
			return n
		}
		n.entries = map[string]*node{}
		for _, name := range slices.Sorted(maps.Keys(kept[old])) {
			n.entries[name] = settle(kept[old][name])
		}
		n.disk = maps.Clone(n.entries)
		return n
	}
	return &Disk{root: settle(d.root)}
}

// keptNames are the entries of each folder that survive.
func (d *Disk) keptNames(choose Choice) map[*node]map[string]*node {
	out := map[*node]map[string]*node{}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || n.entries == nil || out[n] != nil {
			return
		}
		out[n] = maps.Clone(n.disk)
		for _, e := range n.disk {
			visit(e)
		}
		for _, e := range n.entries {
			visit(e)
		}
	}
	visit(d.root)
	inOrder, first := true, len(d.names)
	if len(d.names) > 1 {
		inOrder = pick(choose, 2) == 0
	}
	if inOrder {
		first = pick(choose, len(d.names)+1)
	}
	for i, op := range d.names {
		if inOrder && i >= first || !inOrder && pick(choose, 2) == 0 {
			continue
		}
		visit(op.dir)
		visit(op.node)
		op.apply(out[op.dir])
	}
	return out
}

// CrashStates yields the different states that a power cut may leave: all of them if there are at
// most limit, and otherwise limit of them, the extreme ones and a sample by seed.
func (d *Disk) CrashStates(limit int, seed uint64) iter.Seq[*Disk] {
	return func(yield func(*Disk) bool) {
		states, all := d.allStates(limit)
		if !all {
			states = d.someStates(limit, seed)
		}
		for _, s := range states {
			if !yield(s) {
				return
			}
		}
	}
}

// allStates tries all sequences of choices, and gives up when there are many more than limit.
func (d *Disk) allStates(limit int) (states []*Disk, all bool) {
	seen := map[uint64]bool{}
	var taken, among []int
	for tries := 0; ; tries++ {
		if tries > 4*limit {
			return nil, false
		}
		at := 0
		s := d.Crash(func(n int) int {
			if at == len(taken) {
				taken, among = append(taken, 0), append(among, n)
			}
			at++
			return taken[at-1]
		})
		if sum := s.Sum(); !seen[sum] {
			if len(states) == limit {
				return nil, false
			}
			seen[sum] = true
			states = append(states, s)
		}
		for len(taken) > 0 && taken[len(taken)-1] == among[len(taken)-1]-1 {
			taken, among = taken[:len(taken)-1], among[:len(taken)-1]
		}
		if len(taken) == 0 {
			return states, true
		}
		taken[len(taken)-1]++
	}
}

func (d *Disk) someStates(limit int, seed uint64) []*Disk {
	seen := map[uint64]bool{}
	var states []*Disk
	random := rand.New(rand.NewPCG(seed, uint64(limit))) //nolint:gosec // for a test, reproducible by its seed
	for tries := 0; tries < 4*limit && len(states) < limit; tries++ {
		choose := Choice(random.IntN)
		switch {
		case tries == 0:
			choose = Nothing
		case tries == 1:
			choose = Everything
		case tries%2 == 0: // few of many changes at a time
			most := 1 + random.IntN(8)
			choose = func(n int) int {
				if random.IntN(most) > 0 {
					return n - 1
				}
				return random.IntN(n)
			}
		}
		s := d.Crash(choose)
		if sum := s.Sum(); !seen[sum] {
			seen[sum] = true
			states = append(states, s)
		}
	}
	return states
}

// Sum is a hash of all names and contents that can be read now.
func (d *Disk) Sum() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := fnv.New64a()
	d.root.sum(h)
	return h.Sum64()
}

func (n *node) sum(w io.Writer) {
	if n.entries == nil {
		buf := make([]byte, n.file.size)
		n.file.read(buf, 0)
		_, _ = w.Write([]byte{byte(len(buf)), byte(len(buf) >> 8), byte(len(buf) >> 16), 'f'})
		_, _ = w.Write(buf)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.entries)) {
		_, _ = io.WriteString(w, name+"\x00")
		n.entries[name].sum(w)
	}
	_, _ = w.Write([]byte{'/'})
}
