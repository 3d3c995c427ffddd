package filestoretest

import (
	"maps"
	"slices"
)

// Keep makes the disk record, from now on, the contents of each file whenever it is truncated,
// replaced or removed, for [Disk.Written].
func (d *Disk) Keep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.past = map[string][]string{}
}

// Written returns the contents of files, by name, since [Disk.Keep]: one text for every time that a
// file was truncated, replaced or removed, and a last one for its current contents.
func (d *Disk) Written() map[string][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := maps.Clone(d.past)
	d.root.each("", func(name string, n *node) {
		out[name] = append(slices.Clip(out[name]), n.file.text())
	})
	return out
}

// keep records the contents of a file before they are lost.
func (d *Disk) keep(name string, n *node) {
	if d.past != nil && n != nil && n.entries == nil && n.file.size > 0 {
		d.past[name] = append(d.past[name], n.file.text())
	}
}

func (c *contents) text() string {
	b := make([]byte, c.size)
	c.read(b, 0)
	return string(b)
}

// each calls fn for every file below a node, sorted by name.
func (n *node) each(name string, fn func(string, *node)) {
	if n.entries == nil {
		fn(name, n)
		return
	}
	for _, entry := range slices.Sorted(maps.Keys(n.entries)) {
		n.entries[entry].each(name+"/"+entry, fn)
	}
}
