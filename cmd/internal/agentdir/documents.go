package agentdir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

const (
	// maxDocument is how much of a document is read, in bytes.
	maxDocument = 1 << 20
	// lookAgain is how often files are checked if no change was reported.
	lookAgain = 2 * time.Second
)

// ErrNoAgent says that the project has no Agent.md, the only file it requires.
var ErrNoAgent = errors.New("there is no Agent.md")

// Documents provides the texts of system prompts. A set of them is immutable; a change on disk leads to a new set. It
// is safe for concurrent use.
type Documents struct {
	dir, state string
	log        *slog.Logger
	now        func() time.Time
	warned     Warned // by Reload

	set    atomic.Pointer[documentSet]
	looked atomic.Int64 // when the files were last checked, in Unix nanoseconds
}

// documentSet is one version of the project's documents.
type documentSet struct {
	stamp                                string // names, sizes and times of the files
	agent, primary, other, projectMemory string
}

// NewDocuments makes the documents of a project. It reads nothing yet.
func NewDocuments(dir, state string, log *slog.Logger) *Documents {
	return &Documents{dir: dir, state: state, log: log, now: time.Now}
}

// paths are the project's documents, in the order of the fields of documentSet.
func (d *Documents) paths() [4]string {
	return [4]string{
		filepath.Join(d.dir, "Agent.md"), filepath.Join(d.state, "profile", "Primary.md"),
		filepath.Join(d.state, "profile", "other.md"), filepath.Join(d.state, "memory", "project.md"),
	}
}

// Folders are the folders of those files; some may not exist.
func (d *Documents) Folders() []string {
	return []string{d.dir, d.state, filepath.Join(d.state, "profile"), filepath.Join(d.state, "memory")}
}

// Load reads the documents again. It fails with [ErrNoAgent] if Agent.md is missing. On an error the previous set
// stays in use.
func (d *Documents) Load() error {
	d.looked.Store(d.now().UnixNano())
	stamp := d.stamp()
	if old := d.set.Load(); old != nil && old.stamp == stamp {
		return nil
	}
	var texts [4]string
	for i, path := range d.paths() {
		text, whole, err := readDocument(path)
		if err != nil {
			return err
		}
		if !whole {
			d.log.Warn("a document is not UTF-8 text, so the agent cannot read all of it; save it as UTF-8", "path", path)
		}
		texts[i] = text
	}
	if _, err := os.Stat(d.paths()[0]); errors.Is(err, fs.ErrNotExist) {
		return ErrNoAgent
	}
	d.set.Store(&documentSet{stamp: stamp, agent: texts[0], primary: texts[1], other: texts[2], projectMemory: texts[3]})
	return nil
}

// Reload is Load with a log entry, once for each fault; on an error the previous set stays in use.
func (d *Documents) Reload() {
	before := d.set.Load()
	if err := d.Load(); err != nil {
		if d.warned.News("documents", err) {
			d.log.Warn("the project's documents cannot be read; the previous ones stay in effect", "error", err)
		}
		return
	}
	d.warned.News("documents")
	if d.set.Load() != before {
		d.log.Info("the project's documents were reloaded")
	}
}

// Of returns the current documents of a chat.
func (d *Documents) Of(key messages.ChatKey) decision.Documents {
	if d.now().UnixNano()-d.looked.Load() > int64(lookAgain) {
		d.Reload()
	}
	set := d.set.Load()
	out := decision.Documents{
		Revision: set.stamp, Primary: set.primary, Other: set.other, ProjectMemory: set.projectMemory, Agent: set.agent,
		UserMemory: d.userMemory,
	}
	if dir, err := filestore.ChatDir(d.state, key); err == nil {
		out.ChatMemory = d.read(filepath.Join(dir, "memory", "Primary.md"))
		out.Revision += strconv.Itoa(len(out.ChatMemory))
	}
	return out
}

func (d *Documents) userMemory(userKey string) string {
	name := userKey + ".md"
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return d.read(filepath.Join(d.state, "memory", "users", name))
}

func (d *Documents) read(path string) string {
	text, _, err := readDocument(path)
	if err != nil {
		d.log.Warn("a memory cannot be read", "path", path, "error", err)
	}
	return text
}

// stamp is a text that changes when one of the files does.
func (d *Documents) stamp() string {
	var out strings.Builder
	for _, path := range d.paths() {
		if info, err := os.Stat(path); err == nil {
			out.WriteString(strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36))
		}
		out.WriteByte('/')
	}
	return out.String()
}

// Chinese reports whether Agent.md is written in Chinese, which the host's own texts then use as well.
func (d *Documents) Chinese() bool { return Chinese(d.set.Load().agent) }

// Chinese reports whether a considerable part of a text is Chinese.
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

// readDocument reads a text. A missing file is empty. whole says that every byte of it is UTF-8.
func readDocument(path string) (text string, whole bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", true, nil
	}
	if err != nil {
		return "", true, err
	}
	whole = utf8.Valid(raw)
	if len(raw) > maxDocument {
		return strings.TrimSpace(strings.ToValidUTF8(string(raw[:maxDocument]), "")), whole, nil
	}
	return strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(raw), "\ufeff"), "\ufffd")), whole, nil
}

// Warned is what repeated looks at files have said last. The log may be one of the files that are watched, so that a
// warning at every look would cause the next one. It is safe for concurrent use.
type Warned struct {
	mu    sync.Mutex
	words map[string]string
}

// News reports whether a finding about something differs from the last one. It is called without a finding when all is
// well.
func (t *Warned) News(about string, finding ...any) bool {
	words := fmt.Sprint(finding...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.words[about] == words {
		return false
	}
	if t.words == nil {
		t.words = map[string]string{}
	}
	t.words[about] = words
	return true
}
