package journal

import "slices"

// idSet is a set of ids. A fork keeps its new ids apart from those of the original until it is committed.
type idSet struct {
	all    map[string]struct{}
	fresh  []string
	forked bool
}

func newIDSet(n int) *idSet { return &idSet{all: make(map[string]struct{}, n)} }

func (s *idSet) has(id string) bool {
	_, ok := s.all[id]
	return ok || slices.Contains(s.fresh, id)
}

func (s *idSet) add(id string) {
	switch {
	case !s.forked:
		s.all[id] = struct{}{}
	case !s.has(id):
		s.fresh = append(s.fresh, id)
	}
}

func (s *idSet) fork() *idSet { return &idSet{all: s.all, fresh: slices.Clone(s.fresh), forked: true} }

func (s *idSet) commit() {
	for _, id := range s.fresh {
		s.all[id] = struct{}{}
	}
	s.fresh, s.forked = nil, false
}

// maxIngressIDs is how many handled ingress ids a chat remembers.
const maxIngressIDs = 4096

// ringSet is an idSet of limited size that forgets its oldest members, and has no empty one.
type ringSet struct {
	idSet

	ring []string
	next int
}

func newRingSet() *ringSet {
	return &ringSet{idSet: *newIDSet(0), ring: make([]string, 0, 16)}
}

func (s *ringSet) add(id string) {
	switch {
	case id == "" || s.has(id):
	case s.forked:
		s.idSet.add(id)
	default:
		s.put(id)
	}
}

func (s *ringSet) put(id string) {
	s.all[id] = struct{}{}
	if len(s.ring) < maxIngressIDs {
		s.ring = append(s.ring, id)
		return
	}
	delete(s.all, s.ring[s.next])
	s.ring[s.next] = id
	s.next = (s.next + 1) % len(s.ring)
}

// list returns the ids, oldest first.
func (s *ringSet) list() []string {
	out := slices.Concat(s.ring[s.next:], s.ring[:s.next], s.fresh)
	return out[max(0, len(out)-maxIngressIDs):]
}

func (s *ringSet) fork() *ringSet {
	return &ringSet{idSet: *s.idSet.fork(), ring: s.ring, next: s.next}
}

func (s *ringSet) commit() {
	for _, id := range s.fresh {
		s.put(id)
	}
	s.fresh, s.forked = nil, false
}
