//go:build linux

package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// keeper creates paths so that something can be mounted on them: nothing can be mounted on a name that does not
// exist, and the program could create a hidden name that does not exist. An empty file or folder represents such a
// name as long as any program of this host needs it.
type keeper struct {
	mu   sync.Mutex
	made map[string]int // number of users
}

// plan makes the plan of a program and creates the paths that it lacks. Meanwhile no other program releases what the
// plan finds.
func (k *keeper) plan(s sandbox.Spec) (p *Plan, release func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, err = NewPlan(s); err == nil {
		release, err = k.hold(p.kept)
	}
	return p, release, err
}

// hold creates the missing paths and returns the function that releases them. The caller holds the mutex.
func (k *keeper) hold(places []place) (release func(), err error) {
	if k.made == nil {
		k.made = map[string]int{}
	}
	var held []string
	for _, p := range places {
		if slices.Contains(held, p.path) {
			continue
		}
		if k.made[p.path] == 0 {
			if _, err := os.Lstat(p.path); err == nil {
				continue
			}
			err := p.make()
			if errors.Is(err, os.ErrExist) {
				continue // created meanwhile by somebody else
			}
			if err != nil {
				k.drop(held)
				return nil, fmt.Errorf("keep the place of a hidden file: %w", err)
			}
		}
		k.made[p.path]++
		held = append(held, p.path)
	}
	// What another program needs may be around them. It is released last, when it is empty.
	for _, path := range slices.Clone(held) {
		for at := filepath.Dir(path); k.made[at] > 0 && !slices.Contains(held, at); at = filepath.Dir(at) {
			k.made[at]++
			held = append(held, at)
		}
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.drop(held)
		})
	}, nil
}

func (p place) make() error {
	if p.dir {
		return os.Mkdir(p.path, 0o700)
	}
	f, err := os.OpenFile(p.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// drop releases paths; the last user removes those that are still empty.
func (k *keeper) drop(paths []string) {
	for _, path := range paths {
		if k.made[path]--; k.made[path] > 0 {
			continue
		}
		delete(k.made, path)
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
			_ = os.Remove(path) // an empty file or folder that remains is harmless, and one with content belongs to somebody
		}
	}
}
