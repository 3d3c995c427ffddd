package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// ErrDamaged means that the file holds something that must not be overwritten.
var ErrDamaged = errors.New("the access file cannot be read; repair it or move it away")

const (
	version = 1
	// maxFile is the maximum size of the file.
	maxFile = 1 << 30
)

// Person is the stored form of a person or group, shared with platforms.
type Person = platform.Visitor

// Code is a pairing code.
type Code = platform.PairingCode

// Arrival is somebody whom the owner has just given access.
type Arrival = platform.Arrival

// Ended is a request that is no longer pending.
type Ended = platform.Ended

// Group is a group with access.
type Group struct {
	ID    string    `json:"id"`
	Title string    `json:"title,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// Listens is what the bot listens to there, as one of the platform's constants. If empty, the
	// settings decide.
	Listens string `json:"listens,omitempty"`
}

// Account is the state of one bot.
type Account struct {
	Owner  *Person  `json:"owner,omitempty"`
	People []Person `json:"people,omitempty"`
	Groups []Group  `json:"groups,omitempty"`
	Codes  []Code   `json:"codes,omitempty"`
	// Blocked are people and groups that get no answer at all.
	Blocked  []Person  `json:"blocked,omitempty"`
	Arrivals []Arrival `json:"arrivals,omitempty"`
	// Ended are requests whose buttons the owner may still see, and groups that the bot left before
	// the owner had decided.
	Ended []Ended `json:"ended,omitempty"`
	// Private are the private chats of people who may have to be asked something, the latest last.
	Private []PrivateChat `json:"private,omitempty"`
}

// content is the content of the file.
type content struct {
	Version  int                 `json:"v"`
	Accounts map[string]*Account `json:"accounts"`
}

// stamp identifies a version of the file, to detect that it was replaced or changed.
type stamp struct {
	size    int64
	changed time.Time
	info    fs.FileInfo
}

func (s stamp) same(o stamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil
	}
	return s.size == o.size && s.changed.Equal(o.changed) && os.SameFile(s.info, o.info)
}

// look returns the stamp of a file; the stamp of a missing file is zero.
func look(path string) (stamp, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	return stamp{size: info.Size(), changed: info.ModTime(), info: info}, nil
}

// newFile returns the document at a path.
func newFile(path string) document.File[*content] {
	return document.File[*content]{
		Path: path, Max: maxFile, Encode: document.Indented[*content],
		Decode: func(raw []byte) (*content, error) {
			c, err := decode(raw)
			if err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
			}
			return c, nil
		},
		Unreadable: func(err error) error { return fmt.Errorf("access: %w", err) },
	}
}

// decode is strict, because the next write would lose any unknown member.
func decode(raw []byte) (*content, error) {
	if raw == nil {
		return &content{Version: version, Accounts: map[string]*Account{}}, nil
	}
	c := &content{}
	if err := document.Strict(raw, c); err != nil {
		return nil, err
	}
	if c.Version != version {
		return nil, fmt.Errorf("version %d, not %d", c.Version, version)
	}
	if c.Accounts == nil {
		c.Accounts = map[string]*Account{}
	}
	for name, a := range c.Accounts {
		if a == nil {
			return nil, fmt.Errorf("account %q is null", name)
		}
	}
	return c, nil
}
