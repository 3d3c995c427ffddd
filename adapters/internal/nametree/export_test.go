package nametree

import (
	"cmp"
	"time"
)

// Limited returns a tree with limits of its own; 0 means the usual one.
func Limited(root string, o Options, names, folders, found int) *Tree {
	t := New(root, o)
	t.maxNames, t.maxFolders, t.maxFound = cmp.Or(names, maxNames), cmp.Or(folders, maxFolders), cmp.Or(found, maxFound)
	return t
}

// Settle makes a tree treat its folders as old when they were read.
func Settle(t *Tree) {
	var settle func(f *folder)
	settle = func(f *folder) {
		f.fresh = false
		for _, b := range f.below {
			settle(b)
		}
	}
	settle(t.top)
}

// Age makes a tree treat every folder that has not changed for some ticks of the kernel's clock as
// old when it was read, as if the tests had waited longer.
func Age(t *Tree) {
	const ticks = 30 * time.Millisecond
	r := newReader(t.root)
	var age func(f *folder, path string)
	age = func(f *folder, path string) {
		if now, err := r.stamp(path); err == nil && now == f.stamp && time.Now().UnixNano()-max(now.mtime, now.ctime) > int64(ticks) {
			f.fresh = false
		}
		for _, b := range f.below {
			age(b, path+"/"+b.name)
		}
	}
	age(t.top, t.root)
}
