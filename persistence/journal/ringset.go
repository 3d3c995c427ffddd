package journal

// maxIngressIDs is how many handled ingress ids a chat remembers.
const maxIngressIDs = 4096

// ringSet is a set that forgets its oldest members.
type ringSet struct {
	ring    []string
	next    int
	members map[string]struct{}
}

func newRingSet() *ringSet {
	return &ringSet{ring: make([]string, 0, 16), members: map[string]struct{}{}}
}

func (s *ringSet) has(id string) bool {
	_, ok := s.members[id]
	return ok
}

func (s *ringSet) add(id string) {
	if id == "" || s.has(id) {
		return
	}
	s.members[id] = struct{}{}
	if len(s.ring) < maxIngressIDs {
		s.ring = append(s.ring, id)
		return
	}
	delete(s.members, s.ring[s.next])
	s.ring[s.next] = id
	s.next = (s.next + 1) % len(s.ring)
}

// list is the set's members, oldest first.
func (s *ringSet) list() []string {
	return append(append([]string(nil), s.ring[s.next:]...), s.ring[:s.next]...)
}
