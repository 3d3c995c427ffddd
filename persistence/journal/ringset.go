package journal

import "slices"

// maxIngressIDs is how many handled ingress ids a chat remembers.
const maxIngressIDs = 4096

// ringSet is a set of limited size that forgets its oldest members. A fork keeps its new members apart from those of
// the original until it is committed.
type ringSet struct {
	ring    []string
	next    int
	members map[string]struct{}
	fresh   []string
	forked  bool
}

func newRingSet() *ringSet {
	return &ringSet{ring: make([]string, 0, 16), members: map[string]struct{}{}}
}

func (s *ringSet) has(id string) bool {
	_, ok := s.members[id]
	return ok || slices.Contains(s.fresh, id)
}

func (s *ringSet) add(id string) {
	switch {
	case id == "" || s.has(id):
	case s.forked:
		s.fresh = append(s.fresh, id)
	default:
		s.put(id)
	}
}

func (s *ringSet) put(id string) {
	s.members[id] = struct{}{}
	if len(s.ring) < maxIngressIDs {
		s.ring = append(s.ring, id)
		return
	}
	delete(s.members, s.ring[s.next])
	s.ring[s.next] = id
	s.next = (s.next + 1) % len(s.ring)
}

// list returns the ids, oldest first.
func (s *ringSet) list() []string {
	out := slices.Concat(s.ring[s.next:], s.ring[:s.next], s.fresh)
	return out[max(0, len(out)-maxIngressIDs):]
}

func (s *ringSet) fork() *ringSet {
	f := *s
	f.fresh, f.forked = slices.Clone(s.fresh), true
	return &f
}

func (s *ringSet) commit() {
	for _, id := range s.fresh {
		s.put(id)
	}
	s.fresh, s.forked = nil, false
}
