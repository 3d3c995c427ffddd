package anthropictest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// leastCached is the shortest prefix that is cached, in tokens.
const leastCached = 1024

// lookback is the number of positions that are checked for each breakpoint, itself included.
const lookback = 20

// position is the prompt up to and including one block.
type position struct {
	hash       [sha256.Size]byte
	tokens     int
	breakpoint bool
}

// positions renders a request. A change of the settings invalidates what follows tools and system.
func (b wireBody) positions() []position {
	pieces := b.pieces()
	out := make([]position, 0, len(pieces))
	at := position{hash: sha256.Sum256([]byte(b.Model))}
	conversation := false
	for _, p := range pieces {
		section := p.section
		if !conversation && section != "tools" && section != "system" {
			conversation = true
			section += " " + b.settings(pieces)
		}
		text := canonical(p.block)
		at.hash = sha256.Sum256(slices.Concat(at.hash[:], []byte(section), []byte{0}, text))
		at.tokens += len(text) / 4
		at.breakpoint = p.block.has("cache_control")
		out = append(out, at)
	}
	if b.fields.has("cache_control") && len(out) > 0 {
		out[len(out)-1].breakpoint = true // automatic caching
	}
	return out
}

// settings returns the settings whose change invalidates cached messages. A default is the same as an absent value.
func (b wireBody) settings(pieces []piece) string {
	image := slices.ContainsFunc(pieces, func(p piece) bool { return hasImage(p.block) })
	choice := string(canonical(b.ToolChoice))
	thinking := b.Thinking.text("type") + string(b.Thinking["budget_tokens"])
	effort := b.OutputConfig.text("effort")
	return fmt.Sprintf("%s %t %s %s", strings.TrimPrefix(choice, `{"type":"auto"}`), image, strings.TrimPrefix(thinking, "disabled"), strings.TrimPrefix(effort, "high"))
}

func hasImage(b object) bool {
	nested, err := b.content()
	return b.text("type") == "image" || err == nil && slices.ContainsFunc(nested, hasImage)
}

// canonical returns a block without its breakpoints, with its members sorted by name, and with a string as content
// replaced by a text block. Members of nested values keep their order.
func canonical(b object) []byte {
	o := maps.Clone(b)
	delete(o, "cache_control")
	if nested, err := b.content(); err == nil && nested != nil {
		parts := make([][]byte, len(nested))
		for i, part := range nested {
			parts[i] = canonical(part)
		}
		o["content"] = slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	if len(o) == 0 {
		return nil
	}
	out, _ := plainjson.Append(nil, o) // it was decoded
	return out
}

// cache holds the hashes of prefixes that were written at breakpoints.
type cache map[[sha256.Size]byte]bool

// account reads the longest prefix that the breakpoints find, and writes one entry for each breakpoint that follows at
// least a minimum of tokens. A token is four bytes of a block's compact JSON.
func (c cache) account(positions []position, minimum int) modeltest.Accounting {
	if len(positions) == 0 {
		return modeltest.Accounting{}
	}
	read := c.read(positions)
	written := read
	for _, p := range positions {
		if p.breakpoint && p.tokens >= minimum {
			c[p.hash] = true
			written = max(written, p.tokens)
		}
	}
	total := positions[len(positions)-1].tokens
	return modeltest.Accounting{InputTokens: total, CacheRead: read, CacheWrite: written - read}
}

func (c cache) read(positions []position) int {
	for i, p := range slices.Backward(positions) {
		if !p.breakpoint {
			continue
		}
		for _, q := range slices.Backward(positions[max(0, i+1-lookback) : i+1]) {
			if c[q.hash] {
				return q.tokens
			}
		}
	}
	return 0
}
