package files

import "os"

// Open opens a file of the project for reading, under the same guard as read_file: the
// very file that the path led to, which keeps its bytes whatever becomes of the path. The
// name is the path without links, below the project's folder.
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
