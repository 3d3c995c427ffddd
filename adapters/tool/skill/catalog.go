package skill

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	// maxSkills is the maximum number of skills in one folder of skills.
	maxSkills = 256
	// lookAgain is how long a result is cached.
	lookAgain = 2 * time.Second
)

// Root is a folder of skills.
type Root struct {
	// Base is a trusted folder, and Path the folder of skills below it. Links must not lead out of Base.
	Base, Path string
	// Label is the name that people and the model see.
	Label string
	// Wanted says that somebody configured it, so that it is reported if it is missing.
	Wanted bool
}

// Skill is a skill that can be loaded. It is immutable.
type Skill struct {
	Name        string
	Description string
	// Tools are the only tools that may be called while it is loaded; nil allows all. Unknown are names in its
	// allowed-tools that have no meaning here.
	Tools, Unknown []string
	Folder         string // as shown to people and the model
	Dir            string // path on disk
	Text           string // the text after the front matter
	TextBytes      int    // of SKILL.md
	Files          int
	Bytes          int64
	Digest         string
	cut            int // original length of a description that was cut, otherwise 0
}

// Problem says why a skill or a folder of skills was left out.
type Problem struct {
	// Skill is the folder name of the skill that was left out; empty for other problems.
	Skill string `json:"skill,omitempty"`

	Path string `json:"path"` // a file or folder
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
	Hint string `json:"hint"`
}

// At is the place of the problem.
func (p Problem) At() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return p.Path
}

// String formats the problem as one line for people.
func (p Problem) String() string { return p.At() + ": " + p.What + "; " + p.Hint }

// Set is the result of one search. It is immutable.
type Set struct {
	Skills   []Skill // by name
	Problems []Problem
}

// Find returns the skill with a name, or otherwise in a folder of that name.
func (s *Set) Find(name string) (Skill, bool) {
	i, ok := slices.BinarySearchFunc(s.Skills, name, func(k Skill, name string) int { return cmp.Compare(k.Name, name) })
	if !ok {
		i = slices.IndexFunc(s.Skills, func(k Skill) bool { return k.folderName() == name })
	}
	if i < 0 {
		return Skill{}, false
	}
	return s.Skills[i], true
}

// Refused returns the problem for which the skill of that name or folder was left out, if it was.
func (s *Set) Refused(name string) (Problem, bool) {
	i := slices.IndexFunc(s.Problems, func(p Problem) bool { return p.Skill != "" && strings.EqualFold(p.Skill, name) })
	if i < 0 {
		return Problem{}, false
	}
	return s.Problems[i], true
}

// manyTokens is the number of tokens from which people and models are warned about a skill.
const manyTokens = 8000

// Tokens is approximately how many tokens the text adds to every request while the skill is loaded.
func (k Skill) Tokens() int {
	letters, others := 0, 0
	for _, r := range k.Text {
		if r < 0x80 {
			letters++
		} else {
			others++
		}
	}
	return (letters+3)/4 + others
}

// Warning is what people should know about a skill that can be loaded, or "".
func (k Skill) Warning() string {
	var out []string
	if n := k.manyTokens(); n > 0 {
		out = append(out, fmt.Sprintf("its text takes about %d tokens of every request while it is loaded", n))
	}
	if k.cut > 0 {
		out = append(out, fmt.Sprintf("its description has %d characters, of which only the first %d count", k.cut, maxDescription))
	}
	return strings.Join(out, "; ")
}

// manyTokens is the approximate number of tokens of the text if that needs a warning, otherwise 0.
func (k Skill) manyTokens() int {
	if n := k.Tokens(); n >= manyTokens {
		return n
	}
	return 0
}

// folderName is the name of the skill's folder, or the skill's name if the folder name is not valid for a skill.
func (k Skill) folderName() string {
	if base := filepath.Base(k.Dir); validName(base) {
		return base
	}
	return k.Name
}

// Overview is what a system text may say about the skills: name and description of a skill whose current content a
// person agreed to, but only the folder name of others, because their files could contain instructions from anyone.
func (s *Set) Overview(approvals []persistence.SkillApproval) []messages.Skill {
	var out []messages.Skill
	for _, k := range s.Skills {
		line := messages.Skill{Name: k.folderName()}
		if StateOf(k, approvals) == StatePinned {
			line = messages.Skill{Name: k.Name, Description: k.Description}
		}
		out = append(out, line)
	}
	return out
}

// Text returns the text of a skill with a digest. It returns false if the skill has changed or is gone.
func (s *Set) Text(pin messages.SkillPin) (messages.SkillText, bool) {
	k, ok := s.Find(pin.Name)
	if !ok || k.Digest != pin.Digest || pin.Digest == "" {
		return messages.SkillText{}, false
	}
	return messages.SkillText{Text: k.Text, Folder: k.Folder, Tools: k.Tools}, true
}

// Catalog finds skills. It reads nothing before the first use, and later only what has changed. It is safe for
// concurrent use.
type Catalog struct {
	roots []Root
	now   func() time.Time

	mu     sync.Mutex
	set    *Set
	looked time.Time
	known  map[string]reading // by folder
}

// reading is a skill's folder as it was last read.
type reading struct {
	stamp   string
	skill   Skill
	problem *Problem
}

// NewCatalog makes a catalog of folders. If two skills have the same name, that of the earlier folder wins.
func NewCatalog(roots ...Root) *Catalog {
	return &Catalog{roots: roots, now: time.Now, known: map[string]reading{}}
}

// Current returns the current set, which may be cached for a moment.
func (c *Catalog) Current() *Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.set == nil || now.Sub(c.looked) > lookAgain || now.Before(c.looked) {
		c.look()
	}
	return c.set
}

// Refresh checks for changes and returns the new set.
func (c *Catalog) Refresh() *Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.set
}

// Fresh reads a skill again completely; later results of [Catalog.Current] include the new version.
func (c *Catalog) Fresh(name string) (Skill, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil {
		c.look()
	} else {
		for dir, r := range c.known {
			if r.skill.Name == name || r.skill.folderName() == name || r.problem != nil {
				delete(c.known, dir)
			}
		}
		c.look()
	}
	return c.set.Find(name)
}

// Folders are the folders to watch: those of the roots and those of the skills.
func (c *Catalog) Folders() []string {
	var out []string
	for _, r := range c.roots {
		out = append(out, filepath.Join(r.Base, r.Path))
	}
	for _, s := range c.Current().Skills {
		out = append(out, s.Dir)
	}
	return out
}

// look makes a new set.
func (c *Catalog) look() {
	c.looked = c.now()
	set := &Set{}
	byName := map[string]Skill{}
	known := map[string]reading{}
	for _, r := range c.roots {
		maps.Copy(known, c.lookInto(r, set))
	}
	for _, r := range c.roots {
		for _, dir := range under(r, known) {
			reading := known[dir]
			if reading.problem != nil {
				p := *reading.problem
				p.Skill = filepath.Base(dir)
				set.Problems = append(set.Problems, p)
				continue
			}
			if first, taken := byName[reading.skill.Name]; taken && first.Dir != dir {
				set.Problems = append(set.Problems, Problem{
					Skill: filepath.Base(dir), Path: reading.skill.Folder, What: fmt.Sprintf("the skill %s is in %s already, which counts", reading.skill.Name, first.Folder),
					Hint: "remove one of them or give it another name",
				})
				continue
			}
			byName[reading.skill.Name] = reading.skill
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		set.Skills = append(set.Skills, byName[name])
	}
	c.set, c.known = set, known
}

// under are the folders of a root, in order.
func under(r Root, known map[string]reading) []string {
	var out []string
	for dir := range known {
		if filepath.Dir(dir) == filepath.Join(r.Base, r.Path) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// lookInto reads the skills of a root that have changed. Problems of the root itself are added to the set.
func (c *Catalog) lookInto(r Root, set *Set) map[string]reading {
	report := func(what, hint string) {
		set.Problems = append(set.Problems, Problem{Path: r.Label, What: what, Hint: hint})
	}
	root, err := openBelow(r.Base, r.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if r.Wanted {
			report("the folder is not there", "make it, or take it out of skills.paths")
		}
		return nil
	case err != nil:
		report("the folder cannot be used: "+reason(err), "use a folder inside of the project, or set skills.allowExternalPaths to true")
		return nil
	}
	defer func() { _ = root.Close() }() // opened for reading only
	w := walker{root: root}
	entries, err := w.list(".")
	if err != nil {
		report("the folder cannot be read: "+reason(err), "look at its rights")
		return nil
	}
	out := map[string]reading{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Type().IsRegular() {
			continue
		}
		if len(out) == maxSkills {
			report(fmt.Sprintf("there are more than %d skills", maxSkills), "remove some")
			break
		}
		dir := filepath.Join(r.Base, r.Path, e.Name())
		if reading, ok := c.readSkill(root, r, e.Name()); ok {
			out[dir] = reading
		}
	}
	return out
}

// openBelow opens a folder below base, with links resolved only inside of base.
func openBelow(base, dir string) (*os.Root, error) {
	root, err := os.OpenRoot(base)
	if err != nil || dir == "." || dir == "" {
		return root, err
	}
	defer func() { _ = root.Close() }() // the folder below stays open
	return root.OpenRoot(dir + "/.")    // only a folder: to open a pipe would wait for ever
}

// readSkill reads a skill unless it is unchanged. It returns false if it is not a folder.
func (c *Catalog) readSkill(root *os.Root, r Root, name string) (reading, bool) {
	dir, label := filepath.Join(r.Base, r.Path, name), path.Join(filepath.ToSlash(r.Label), name)
	own, err := root.OpenRoot(name + "/.")
	if err != nil {
		if info, statErr := root.Stat(name); statErr == nil && !info.IsDir() {
			return reading{}, false // a link to a file, or a pipe
		}
		return failed(label, frontmatter.Faultf(0, "copy the skill into the folder", "the folder cannot be used: %s", reason(err))), true
	}
	defer func() { _ = own.Close() }() // opened for reading only
	if _, err := own.Lstat(fileName); errors.Is(err, fs.ErrNotExist) {
		return failed(label, frontmatter.Faultf(0, "write one, or move the folder elsewhere", "there is no SKILL.md")), true
	}
	stamp := stampFolder(own)
	if old, ok := c.known[dir]; ok && old.stamp == stamp {
		return old, true
	}
	out := parseSkill(own, dir, label)
	out.stamp = stamp
	return out, true
}

func parseSkill(own *os.Root, dir, label string) reading {
	f, err := readFolder(own)
	switch {
	case err != nil:
		return failed(label, err)
	case f.text == nil:
		return failed(label, frontmatter.Faultf(0, "put the file itself there", "SKILL.md is not a file"))
	}
	d, err := parse(f.text)
	if err != nil {
		return failed(label+"/"+fileName, err)
	}
	if d.name == "" {
		if d.name = filepath.Base(dir); !validName(d.name) {
			return failed(label+"/"+fileName, frontmatter.Faultf(2, "add a line name: my-skill", "the folder's name cannot be the skill's, and no name is given"))
		}
	}
	s := Skill{
		Name: d.name, Description: d.description, Folder: label, Dir: dir, Text: d.text, TextBytes: len(f.text), Files: f.files, Bytes: f.bytes, Digest: f.digest, cut: d.cut,
	}
	s.Tools, s.Unknown = ownTools(d.tools)
	return reading{skill: s}
}

// failed is the reading of a skill that is left out because of an error about a path.
func failed(at string, err error) reading {
	if f, ok := errors.AsType[frontmatter.Fault](err); ok {
		return reading{problem: &Problem{Path: at, Line: f.Line, What: f.What, Hint: f.Hint}}
	}
	return reading{problem: &Problem{Path: at, What: "it cannot be read: " + reason(err), Hint: "look at its rights"}}
}

// reason is an error without the path, which is shown separately.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
