package feishu

// maxSplit is the maximum number of packets of an event, and maxPieces that of incomplete events.
const (
	maxSplit  = 256
	maxPieces = 64
)

// pieces assembles events that arrive in several packets. Only one goroutine uses it.
type pieces struct {
	limit int // maximum size of an event in bytes
	open  map[string][][]byte
}

func newPieces(limit int) *pieces { return &pieces{limit: limit, open: map[string][][]byte{}} }

// join adds a packet and returns the event; ok is false while some of its packets are missing.
func (p *pieces) join(f frame) ([]byte, bool) {
	sum, seq := f.number("sum"), f.number("seq")
	if sum <= 1 {
		return f.payload, true
	}
	id := f.header("message_id")
	if sum > maxSplit || seq < 0 || seq >= sum || id == "" {
		return nil, false
	}
	parts := p.open[id]
	if parts == nil {
		if len(p.open) >= maxPieces {
			clear(p.open) // dropped events are redelivered
		}
		parts = make([][]byte, sum)
		p.open[id] = parts
	}
	if len(parts) != sum {
		return nil, false
	}
	parts[seq] = f.payload
	var whole []byte
	for _, part := range parts {
		if part == nil || len(whole) > p.limit {
			return nil, false
		}
		whole = append(whole, part...)
	}
	delete(p.open, id)
	return whole, true
}
