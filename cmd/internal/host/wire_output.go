package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

// wholeOf reads the whole results that chats keep below a folder. A chat reads only
// its own, whatever a result says.
func wholeOf(stored string) func(key messages.ChatKey, pointer string) (string, int64, error) {
	return func(key messages.ChatKey, pointer string) (text string, size int64, err error) {
		folder, err := resultsOf(key)
		if err != nil {
			return "", 0, err
		}
		name, ok := strings.CutPrefix(pointer, folder+"/")
		if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
			return "", 0, errors.New("it is no result of this chat")
		}
		root, err := os.OpenRoot(filepath.Join(stored, filepath.FromSlash(folder)))
		if err != nil {
			return "", 0, fmt.Errorf("open the results of a chat: %w", err)
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		name = filepath.FromSlash(name)
		info, err := root.Lstat(name)
		switch {
		case err != nil:
			return "", 0, fmt.Errorf("find a result: %w", err)
		case !info.Mode().IsRegular():
			return "", 0, errors.New("it is no file")
		case info.Size() > notices.MaxOutput:
			return "", info.Size(), nil
		}
		f, err := root.Open(name)
		if err != nil {
			return "", 0, fmt.Errorf("open a result: %w", err)
		}
		defer func() { _ = f.Close() }() // only read from
		raw, err := io.ReadAll(io.LimitReader(f, notices.MaxOutput+1))
		if err != nil {
			return "", 0, fmt.Errorf("read a result: %w", err)
		}
		return string(raw), int64(len(raw)), nil
	}
}
