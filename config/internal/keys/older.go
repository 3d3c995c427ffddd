package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

// older reports a key of an earlier version, and keeps its value if a current key replaces it. It returns false for
// keys that no version had.
func (d *decoder) older(key string, at jsonpos.Position, n *jsonpos.Node) bool {
	_, row, found := strings.Cut(d.Older, "\n"+strings.ReplaceAll(key, " ", "\n")+" ") // Keys contain no spaces.
	row, _, _ = strings.Cut(row, "\n")
	switch to, moved := strings.CutPrefix(row, "-> "); {
	case moved:
		d.moved = append(d.moved, movedValue{to: to, node: n})
		d.Report(Warn, d.at(at), key, fmt.Sprintf("%s is now called %s; its value counts where that is not set, but please rename it", key, to))
	case found:
		d.withoutEffect(key, at, row)
	case strings.Contains(d.Older, "\n"+key+".") && n.Kind == jsonpos.Object:
		for _, m := range d.lastMembers(key, n) {
			if !d.older(key+"."+m.Key, m.Position, m.Value) {
				d.withoutEffect(key+"."+m.Key, m.Position, "nothing replaces it")
			}
		}
	default:
		return false
	}
	return true
}

func (d *decoder) withoutEffect(key string, at jsonpos.Position, note string) {
	d.Report(d.unknownSeverity(), d.at(at), key, fmt.Sprintf("%s is a key of an earlier version and has no effect; %s", key, note))
}

// readMoved applies the values of older keys whose current key is not set. For blocks, this is decided for each key
// in them.
func (d *decoder) readMoved() {
	for len(d.moved) > 0 {
		m := d.moved[0]
		d.moved = d.moved[1:]
		k, ok := d.Table.At(m.to)
		if _, set := d.Origins[m.to]; set && ok && IsBlock(k.Value.Type()) {
			m.node.Members = slices.DeleteFunc(m.node.Members, func(inner jsonpos.Member) bool {
				_, set := d.Origins[Join(m.to, inner.Key)]
				return set
			})
		} else if set {
			continue
		}
		if ok {
			d.value(k, m.node)
		}
	}
}
