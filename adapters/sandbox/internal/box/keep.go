//go:build linux

package box

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// keeper makes that paths exist while something has to lie on them: nothing can
// be mounted on a name that is not there, and a name that is hidden because it
// is not there could be made by the program. An empty file stands for such a
// name as long as any program of this host needs it.
type keeper struct {
	mu   sync.Mutex
	made map[string]int // how many need it
}

// hold makes what is missing and returns what gives it back.
func (k *keeper) hold(paths []string) (release func(), err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made == nil {
		k.made = map[string]int{}
	}
	var held []string
	for _, path := range paths {
		if k.made[path] == 0 {
			if _, err := os.Lstat(path); err == nil {
				continue
			}
			f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the caller names the path
			if errors.Is(err, os.ErrExist) {
				continue // it has come meanwhile
			}
			if err != nil {
				k.drop(held)
				return nil, fmt.Errorf("keep the place of a hidden file: %w", err)
			}
			_ = f.Close() // nothing was written
		}
		k.made[path]++
		held = append(held, path)
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

// drop gives back; the last one removes what is still empty.
func (k *keeper) drop(paths []string) {
	for _, path := range paths {
		if k.made[path]--; k.made[path] > 0 {
			continue
		}
		delete(k.made, path)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = os.Remove(path) // an empty file that stays harms nobody
		}
	}
}
