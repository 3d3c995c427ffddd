package host

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// maxDocument is the longest document that is read; more is cut off.
	maxDocument = 1 << 20
	// lookAgain is how often files are looked at when nothing was heard of them.
	lookAgain = 2 * time.Second
)

// errNoAgent: the project has no Agent.md, the one file it needs.
var errNoAgent = errors.New("there is no Agent.md")

// documents hands out the texts that system prompts are made of. A set of them
// never changes; a change on disk makes a new set. It is safe for concurrent use.
type documents struct {
	dir, state string
	chatDir    func(messages.ChatKey) (string, error)
	log        *slog.Logger
	now        func() time.Time

	set    atomic.Pointer[documentSet]
	looked atomic.Int64 // when the files were last looked at, in Unix nanoseconds
}

// documentSet is the project's own documents as they were at one time.
type documentSet struct {
	stamp                                string // of the files: names, sizes, times
	agent, primary, other, projectMemory string
}

func newDocuments(dir, state string, log *slog.Logger) *documents {
	return &documents{dir: dir, state: state, log: log, now: time.Now}
}

// paths are the project's documents, in the order of documentSet.
func (d *documents) paths() [4]string {
	return [4]string{
		filepath.Join(d.dir, "Agent.md"), filepath.Join(d.state, "profile", "Primary.md"),
		filepath.Join(d.state, "profile", "other.md"), filepath.Join(d.state, "memory", "project.md"),
	}
}

// folders are where those files are; not all of them need be there.
func (d *documents) folders() []string {
	return []string{d.dir, d.state, filepath.Join(d.state, "profile"), filepath.Join(d.state, "memory")}
}

// load reads everything anew. A missing Agent.md is [errNoAgent]; the set that
// was there before stays.
func (d *documents) load() error {
	d.looked.Store(d.now().UnixNano())
	stamp := d.stamp()
	if old := d.set.Load(); old != nil && old.stamp == stamp {
		return nil
	}
	var texts [4]string
	for i, path := range d.paths() {
		text, err := readDocument(path)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	if _, err := os.Stat(d.paths()[0]); errors.Is(err, fs.ErrNotExist) {
		return errNoAgent
	}
	d.set.Store(&documentSet{stamp: stamp, agent: texts[0], primary: texts[1], other: texts[2], projectMemory: texts[3]})
	return nil
}

// reload loads what changed, and keeps what there was if that fails.
func (d *documents) reload() {
	before := d.set.Load()
	if err := d.load(); err != nil {
		d.log.Warn("the project's documents cannot be read; the last ones stay in force", "error", err)
		return
	}
	if d.set.Load() != before {
		d.log.Info("the project's documents were read anew")
	}
}

// of is the documents of a chat as they are now.
func (d *documents) of(key messages.ChatKey) machine.Documents {
	if d.now().UnixNano()-d.looked.Load() > int64(lookAgain) {
		d.reload()
	}
	set := d.set.Load()
	out := machine.Documents{
		Revision: set.stamp, Primary: set.primary, Other: set.other, ProjectMemory: set.projectMemory, Agent: set.agent,
		UserMemory: d.userMemory,
	}
	if dir, err := d.chatDir(key); err == nil {
		out.ChatMemory = d.read(filepath.Join(dir, "memory", "Primary.md"))
		out.Revision += strconv.Itoa(len(out.ChatMemory))
	}
	return out
}

// userMemory is what is remembered of one person.
func (d *documents) userMemory(userKey string) string {
	name := userKey + ".md"
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return d.read(filepath.Join(d.state, "memory", "users", name))
}

func (d *documents) read(path string) string {
	text, err := readDocument(path)
	if err != nil {
		d.log.Warn("a memory cannot be read", "path", path, "error", err)
	}
	return text
}

// stamp changes when one of the files does.
func (d *documents) stamp() string {
	var out strings.Builder
	for _, path := range d.paths() {
		if info, err := os.Stat(path); err == nil {
			out.WriteString(strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36))
		}
		out.WriteByte('/')
	}
	return out.String()
}

// chinese reports that Agent.md is written in Chinese; the host's own words then are, too.
func (d *documents) chinese() bool { return Chinese(d.set.Load().agent) }

// Chinese reports whether a good part of a text is Chinese.
func Chinese(text string) bool {
	han, letters := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return han*4 > letters
}

// readDocument reads a text; one that is not there is empty.
func readDocument(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if len(text) > maxDocument {
		return strings.TrimSpace(strings.ToValidUTF8(string(text[:maxDocument]), "")), nil
	}
	return strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(text), "\ufeff"), "\ufffd")), nil
}
