package filestoretest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// The units of a disk.
const (
	pageSize   = 4096
	sectorSize = 512
)

// page is the immutable contents of a page; nil is all zeros.
type page []byte

// contents are a file's contents, as read now and as on the disk.
type contents struct {
	size  int64
	pages []page

	diskSize  int64
	diskPages []page
	// changes are those since the last fsync, in order.
	changes []change
}

// change is a new page, or a new size with the pages that it frees.
type change struct {
	resize bool
	size   int64 // if resize
	freed  int   // if resize: pages from here on are freed; -1 means none
	n      int   // otherwise the number of the page
	page   page
	// lost is set if an fsync failed to write it, so that no later one will.
	lost bool
}

func pageCount(size int64) int { return int((size + pageSize - 1) / pageSize) }

func pageAt(pages []page, n int) page {
	if n < len(pages) {
		return pages[n]
	}
	return nil
}

func setPage(pages []page, n int, p page) []page {
	for len(pages) <= n {
		pages = append(pages, nil)
	}
	pages[n] = p
	return pages
}

func (c *contents) clone() contents {
	out := *c
	out.pages, out.diskPages, out.changes = slices.Clone(c.pages), slices.Clone(c.diskPages), slices.Clone(c.changes)
	return out
}

func (c *contents) read(b []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	b = b[:min(int64(len(b)), c.size-off)]
	for done := 0; done < len(b); {
		at := off + int64(done)
		part := b[done:min(len(b), done+pageSize-int(at%pageSize))]
		clear(part)
		if p := pageAt(c.pages, int(at/pageSize)); p != nil {
			copy(part, p[at%pageSize:])
		}
		done += len(part)
	}
	return len(b)
}

// write writes page by page; the size grows with each.
func (c *contents) write(b []byte, off int64) {
	for len(b) > 0 {
		n, from := int(off/pageSize), int(off%pageSize)
		p := make(page, pageSize)
		copy(p, pageAt(c.pages, n))
		done := copy(p[from:], b)
		c.put(n, p)
		off, b = off+int64(done), b[done:]
		if off > c.size {
			c.size = off
			c.changes = append(c.changes, change{resize: true, size: off, freed: -1})
		}
	}
}

func (c *contents) put(n int, p page) {
	c.pages = setPage(c.pages, n, p)
	c.changes = append(c.changes, change{n: n, page: p})
}

// truncate sets the size. Pages after it are freed, and the rest of the last page becomes zeros.
func (c *contents) truncate(size int64) {
	if size == c.size {
		return
	}
	ch := change{resize: true, size: size, freed: -1}
	if size < c.size {
		ch.freed = pageCount(size)
		c.pages = c.pages[:min(len(c.pages), ch.freed)]
		if from := size % pageSize; from != 0 {
			n := int(size / pageSize)
			p := make(page, pageSize)
			copy(p, pageAt(c.pages, n))
			clear(p[from:])
			c.put(n, p)
		}
	}
	c.size = size
	c.changes = append(c.changes, ch)
}

// force makes everything durable except for what an earlier failed fsync lost.
func (c *contents) force() {
	done := map[int]bool{}
	for _, ch := range c.changes {
		if ch.resize && ch.freed >= 0 {
			c.diskPages = c.diskPages[:min(len(c.diskPages), ch.freed)]
		}
		if !ch.resize && !ch.lost {
			done[ch.n] = true
		}
	}
	c.diskSize = c.size
	var rest []change
	for i, ch := range c.changes {
		switch {
		case ch.resize || done[ch.n] || gone(c.changes[i+1:], ch.n):
		default:
			rest = append(rest, ch)
		}
	}
	for n := range pageCount(c.size) {
		if done[n] {
			c.diskPages = setPage(c.diskPages, n, pageAt(c.pages, n))
		}
	}
	c.changes = rest
}

// gone reports whether one of the changes frees a page.
func gone(changes []change, n int) bool {
	return slices.ContainsFunc(changes, func(ch change) bool { return ch.resize && ch.freed >= 0 && n >= ch.freed })
}

// failForce is an fsync that fails: the data it should have written counts as clean. Sizes are
// metadata of the file system and become durable with the next fsync.
func (c *contents) failForce() {
	for i := range c.changes {
		c.changes[i].lost = !c.changes[i].resize
	}
}

// reread drops clean pages from memory. Pages that a failed fsync lost then have their old
// contents.
func (c *contents) reread() {
	dirty, lost := map[int]bool{}, map[int]bool{}
	for _, ch := range c.changes {
		if !ch.resize {
			dirty[ch.n] = dirty[ch.n] || !ch.lost
			lost[ch.n] = true
		}
	}
	var rest []change
	for i, ch := range c.changes {
		switch {
		case ch.resize || dirty[ch.n]:
			rest = append(rest, ch)
		case ch.n < pageCount(c.size):
			old := pageAt(c.diskPages, ch.n)
			if gone(c.changes[:i], ch.n) {
				old = nil
			}
			c.pages = setPage(c.pages, ch.n, old)
		}
	}
	c.changes = rest
}

// crash returns what a power cut leaves, by choice.
func (c *contents) crash(choose Choice) contents {
	sizes := 0
	for _, ch := range c.changes {
		if ch.resize {
			sizes++
		}
	}
	kept := pick(choose, sizes+1)
	size, seen := c.diskSize, 0
	for _, ch := range c.changes {
		if ch.resize && seen < kept {
			size = ch.size
			seen++
		}
	}
	out := contents{size: size, diskSize: size}
	for n := range pageCount(size) {
		states := torn(c.candidates(n, kept))
		p := states[pick(choose, len(states))]
		if rest := size - int64(n)*pageSize; rest < pageSize && p != nil {
			p = slices.Clone(p)
			clear(p[rest:])
		}
		out.pages = setPage(out.pages, n, p)
	}
	out.diskPages = slices.Clone(out.pages)
	return out
}

// candidates are the contents that a page may have if so many size changes are durable.
func (c *contents) candidates(n, kept int) []page {
	out := []page{pageAt(c.diskPages, n)}
	seen := 0
	for _, ch := range c.changes {
		switch {
		case !ch.resize && ch.n == n:
			out = append(out, ch.page)
		case ch.resize:
			if ch.freed >= 0 && n >= ch.freed {
				if seen >= kept {
					return out
				}
				out = []page{nil}
			}
			seen++
		}
	}
	return out
}

// torn inserts between every two pages the states torn between them.
func torn(pages []page) []page {
	if len(pages) == 1 {
		return pages
	}
	out := pages[:1:1]
	for i, next := range pages[1:] {
		before := pages[i]
		for at := sectorSize; at < pageSize; at += sectorSize {
			for _, p := range []page{joined(before, next, at), joined(next, before, at)} {
				if !same(p, out[len(out)-1]) && !same(p, before) && !same(p, next) {
					out = append(out, p)
				}
			}
		}
		if !same(next, out[len(out)-1]) || i == len(pages)-2 {
			out = append(out, next)
		}
	}
	return out
}

func joined(head, tail page, at int) page {
	p := make(page, pageSize)
	copy(p, tail)
	clear(p[:at])
	if head != nil {
		copy(p[:at], head)
	}
	return p
}

func same(a, b page) bool {
	switch {
	case a == nil:
		return len(bytes.Trim(b, "\x00")) == 0
	case b == nil:
		return same(b, a)
	default:
		return bytes.Equal(a, b)
	}
}

type file struct {
	disk     *Disk
	node     *node
	name     string
	writable bool
	closed   bool // under the disk's lock
}

// do runs an operation on the open file.
func (f *file) do(kind Kind, off int64, size int, fn func(fault error) error) error {
	return f.disk.do(kind, f.name, off, size, func(fault error) error {
		switch {
		case f.closed:
			return fs.ErrClosed
		case !f.writable && (kind == OpWrite || kind == OpTruncate):
			return syscall.EBADF
		}
		return fn(fault)
	})
}

func (f *file) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.do(OpRead, off, len(b), func(fault error) error {
		if fault != nil {
			return fault
		}
		if n = f.node.file.read(b, off); n < len(b) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *file) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.do(OpWrite, off, len(b), func(fault error) error {
		n = len(b)
		if fault != nil {
			n = 0
		}
		if short, ok := errors.AsType[*Short](fault); ok {
			n, fault = min(max(short.N, 0), len(b)), short.Err
		}
		f.node.file.write(b[:n], off)
		return fault
	})
	return n, err
}

func (f *file) Size() (size int64, err error) {
	err = f.do(OpSize, 0, 0, func(fault error) error {
		size = f.node.file.size
		return fault
	})
	return size, err
}

func (f *file) Truncate(size int64) error {
	return f.do(OpTruncate, size, 0, func(fault error) error {
		if fault == nil {
			if size < f.node.file.size {
				f.disk.keep(f.name, f.node)
			}
			f.node.file.truncate(size)
		}
		return fault
	})
}

func (f *file) Datasync() error {
	return f.do(OpDatasync, 0, 0, func(fault error) error {
		if fault != nil {
			f.node.file.failForce()
		} else {
			f.node.file.force()
		}
		return fault
	})
}

// Reread drops what a failed fsync left in memory.
func (f *file) Reread() error {
	return f.do(OpReread, 0, 0, func(fault error) error {
		if fault == nil {
			f.node.file.reread()
		}
		return fault
	})
}

func (f *file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return nil
}
