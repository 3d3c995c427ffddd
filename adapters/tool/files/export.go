package files

import "os"

// Open opens a file of the project for reading, with the same checks as read_file. The file stays the one that the
// path led to, whatever happens to the path later. name is its path without links, relative to the project's folder.
func (w *Workspace) Open(asked string) (f *os.File, name string, err error) {
	path, err := w.local(asked)
	if err != nil {
		return nil, "", err
	}
	t, err := w.tree()
	if err != nil {
		return nil, "", err
	}
	defer t.close()
	p, err := t.find(path)
	if err != nil {
		return nil, "", err
	}
	defer p.close()
	f, err = t.open(p)
	return f, p.path, err
}
