package agentcontext

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// maxRuns is how many runs are remembered; the oldest are forgotten first.
const maxRuns = 1024

// seen records the entries that runs have got, by hash. It is safe for concurrent use.
type seen struct {
	mu    sync.Mutex
	runs  map[string]map[[sha256.Size]byte]struct{}
	order []string
}

// take selects the first entries that the run has not got yet, up to count and within the limits, and returns how
// many more there are.
func (s *seen) take(run tool.Run, lines []json.RawMessage, count int) (taken []json.RawMessage, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.of(string(run.ChatKey) + "\x00" + run.RunID)
	taken = []json.RawMessage{}
	bytes := 0
	for _, line := range lines {
		sum := sha256.Sum256(line)
		if _, ok := had[sum]; ok {
			continue
		}
		full := len(taken) >= count || len(had) >= maxPerRun || len(taken) > 0 && bytes+len(line) > maxBytes
		if full || more > 0 {
			more++
			continue
		}
		had[sum] = struct{}{}
		taken = append(taken, line)
		bytes += len(line)
	}
	return taken, more
}

// of returns the entries that a run has got so far.
func (s *seen) of(run string) map[[sha256.Size]byte]struct{} {
	if had, ok := s.runs[run]; ok {
		return had
	}
	if s.runs == nil {
		s.runs = map[string]map[[sha256.Size]byte]struct{}{}
	}
	if len(s.order) >= maxRuns {
		delete(s.runs, s.order[0])
		s.order = s.order[1:]
	}
	had := map[[sha256.Size]byte]struct{}{}
	s.runs[run] = had
	s.order = append(s.order, run)
	return had
}
