//go:build linux

package box

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// keeper makes that paths exist while something has to lie on them: nothing can
// be mounted on a name that is not there, and a name that is hidden because it
// is not there could be made by the program. An empty file or folder stands for such a
// name as long as any program of this host needs it.
type keeper struct {
	mu   sync.Mutex
	made map[string]int // how many need it
}

// hold makes what is missing and returns what gives it back.
func (k *keeper) hold(places []place) (release func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
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
				continue // it has come meanwhile
			}
			if err != nil {
				k.drop(held)
				return nil, fmt.Errorf("keep the place of a hidden file: %w", err)
			}
		}
		k.made[p.path]++
		held = append(held, p.path)
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

// drop gives back; the last one removes what is still empty.
func (k *keeper) drop(paths []string) {
	for _, path := range paths {
		if k.made[path]--; k.made[path] > 0 {
			continue
		}
		delete(k.made, path)
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || info.Mode().IsRegular() && info.Size() == 0) {
			_ = os.Remove(path) // an empty file or folder that stays harms nobody, and one with something in it is somebody's
		}
	}
}
