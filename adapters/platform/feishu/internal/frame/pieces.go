package frame

// maxSplit is the maximum number of packets of an event, and maxPieces that of incomplete events.
const (
	maxSplit  = 256
	maxPieces = 64
)

// Pieces assembles events that arrive in several packets. Only one goroutine uses it.
type Pieces struct {
	limit int // maximum size of an event in bytes
	open  map[string][][]byte
}

// NewPieces returns pieces of events of at most limit bytes.
func NewPieces(limit int) *Pieces { return &Pieces{limit: limit, open: map[string][][]byte{}} }

// Join adds a packet and returns the event; ok is false while some of its packets are missing.
func (p *Pieces) Join(f Frame) ([]byte, bool) {
	sum, seq := f.number("sum"), f.number("seq")
	if sum <= 1 {
		return f.Payload, true
	}
	id := f.Header("message_id")
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
	parts[seq] = f.Payload
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
