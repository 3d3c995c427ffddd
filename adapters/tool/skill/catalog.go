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
	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	// maxSkills is how many skills one folder of skills holds.
	maxSkills = 256
	// lookAgain is how long what was found is believed without another look.
	lookAgain = 2 * time.Second
)

// Root is a folder of skills.
type Root struct {
	// Base is a folder that is taken as it is, and Path the folder of skills below it;
	// no link of it may lead out of Base.
	Base, Path string
	// Label is how people and the model know it.
	Label string
	// Wanted says that somebody named it: it is reported if it is not there.
	Wanted bool
}

// Skill is a skill that can be loaded. It never changes.
type Skill struct {
	Name        string
	Description string
	// Tools are the only ones that may be called while it is loaded; nil: all. Unknown
	// are names of its allowed-tools that mean nothing here.
	Tools, Unknown []string
	Folder         string // as people and the model know it
	Dir            string // on the disk
	Text           string // behind the front matter
	TextBytes      int    // of SKILL.md
	Files          int
	Bytes          int64
	Digest         string
	cut            int // how long the description was before it was cut; 0: it was not
}

// Problem is why a skill or a folder of them was left out.
type Problem struct {
	// Skill is the folder's name of the skill that was left out; empty: it is no skill's.
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

// String is one line for people.
func (p Problem) String() string { return p.At() + ": " + p.What + "; " + p.Hint }

// Set is what was found at one time. It never changes.
type Set struct {
	Skills   []Skill // by name
	Problems []Problem
}

// Find returns the skill of a name, or else of a folder.
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

// Refused is why the skill of a name, or of a folder, was left out; false: none was.
func (s *Set) Refused(name string) (Problem, bool) {
	i := slices.IndexFunc(s.Problems, func(p Problem) bool { return p.Skill != "" && strings.EqualFold(p.Skill, name) })
	if i < 0 {
		return Problem{}, false
	}
	return s.Problems[i], true
}

// manyTokens is from how many tokens on people and models are warned of a skill.
const manyTokens = 8000

// Tokens is about how many tokens the text takes of every request while the skill is
// loaded.
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

// Warning is what people should know of a skill that can be loaded all the same; empty:
// nothing.
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

// manyTokens is about how many tokens the text has, if they are worth a warning; else zero.
func (k Skill) manyTokens() int {
	if n := k.Tokens(); n >= manyTokens {
		return n
	}
	return 0
}

// folderName is the name of the skill's folder, or that of the skill if the folder's is
// none that a skill may have.
func (k Skill) folderName() string {
	if base := filepath.Base(k.Dir); validName(base) {
		return base
	}
	return k.Name
}

// Overview is what a system text may say of the skills: of one that a person agreed to
// as it is now its name and its description, of any other one the name of its folder
// alone, for whoever can write there could put orders into the rest.
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

// Text is a skill at a digest; false: it has another one, or is gone.
func (s *Set) Text(pin messages.SkillPin) (messages.SkillText, bool) {
	k, ok := s.Find(pin.Name)
	if !ok || k.Digest != pin.Digest || pin.Digest == "" {
		return messages.SkillText{}, false
	}
	return messages.SkillText{Text: k.Text, Folder: k.Folder, Tools: k.Tools}, true
}

// Catalog finds skills. It is safe for concurrent use. Nothing is read before it is
// asked, and only what changed is read again.
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

// NewCatalog makes a catalog of folders; of two skills with one name that of the
// earlier folder counts. now may be nil.
func NewCatalog(now func() time.Time, roots ...Root) *Catalog {
	if now == nil {
		now = time.Now
	}
	return &Catalog{roots: slices.Clone(roots), now: now, known: map[string]reading{}}
}

// Current is what there is, as of a moment ago.
func (c *Catalog) Current() *Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); c.set == nil || now.Sub(c.looked) > lookAgain || now.Before(c.looked) {
		c.look()
	}
	return c.set
}

// Refresh looks again.
func (c *Catalog) Refresh() *Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.set
}

// Fresh reads a skill anew, every byte of it, and returns what [Catalog.Current] says
// from then on.
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

// Folders are those worth watching: the folders of skills and the skills' own.
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

// look makes the set anew.
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
	for _, s := range byName {
		set.Skills = append(set.Skills, s)
	}
	slices.SortFunc(set.Skills, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
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

// lookInto reads the skills of a folder that changed. What is wrong with the folder
// itself goes to the set.
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
	defer func() { _ = root.Close() }() // nothing was written
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

// openBelow opens a folder below another one; no link leads out of that.
func openBelow(base, dir string) (*os.Root, error) {
	root, err := os.OpenRoot(base)
	if err != nil || dir == "." || dir == "" {
		return root, err
	}
	defer func() { _ = root.Close() }() // the folder below stays open
	return root.OpenRoot(dir)
}

// readSkill reads a skill unless it is what it was; false: it is none.
func (c *Catalog) readSkill(root *os.Root, r Root, name string) (reading, bool) {
	dir, label := filepath.Join(r.Base, r.Path, name), path.Join(filepath.ToSlash(r.Label), name)
	failed := func(err error) (reading, bool) {
		p := problemOf(label, err)
		return reading{problem: &p}, true
	}
	own, err := root.OpenRoot(name)
	if err != nil {
		if info, statErr := root.Stat(name); statErr == nil && !info.IsDir() {
			return reading{}, false // a link to a file, or a pipe
		}
		return failed(faultf(0, "copy the skill into the folder", "the folder cannot be used: %s", reason(err)))
	}
	defer func() { _ = own.Close() }() // nothing was written
	if _, err := own.Lstat(fileName); errors.Is(err, fs.ErrNotExist) {
		return failed(faultf(0, "write one, or move the folder elsewhere", "there is no SKILL.md"))
	}
	stamp := stampFolder(own)
	if old, ok := c.known[dir]; ok && old.stamp == stamp {
		return old, true
	}
	out, _ := c.parseSkill(own, dir, label)
	out.stamp = stamp
	return out, true
}

func (c *Catalog) parseSkill(own *os.Root, dir, label string) (reading, bool) {
	failed := func(err error) (reading, bool) {
		p := problemOf(label, err)
		return reading{problem: &p}, false
	}
	f, err := readFolder(own)
	switch {
	case err != nil:
		return failed(err)
	case f.text == nil:
		return failed(faultf(0, "put the file itself there", "SKILL.md is no file"))
	}
	d, err := parse(f.text)
	if err != nil {
		p := problemOf(label+"/"+fileName, err)
		return reading{problem: &p}, false
	}
	if d.name == "" {
		if d.name = filepath.Base(dir); !validName(d.name) {
			p := problemOf(label+"/"+fileName, faultf(2, "add a line name: my-skill", "the folder's name cannot be the skill's, and no name is given"))
			return reading{problem: &p}, false
		}
	}
	s := Skill{
		Name: d.name, Description: d.description, Folder: label, Dir: dir, Text: d.text, TextBytes: len(f.text), Files: f.files, Bytes: f.bytes, Digest: f.digest, cut: d.cut,
	}
	s.Tools, s.Unknown = ownTools(d.tools)
	return reading{skill: s}, true
}

// problemOf says what is wrong with a path.
func problemOf(at string, err error) Problem {
	if f, ok := errors.AsType[fault](err); ok {
		return Problem{Path: at, Line: f.Line, What: f.What, Hint: f.Hint}
	}
	return Problem{Path: at, What: "it cannot be read: " + reason(err), Hint: "look at its rights"}
}

// reason is an error without the path that is said already.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
