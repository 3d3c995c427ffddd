package skill

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Skills in all the shapes that public collections have them in: with a license and
// members that mean nothing here, descriptions as long as the format allows, quoted and
// over several lines, long texts, many files and folders in folders.
func TestSkillsOfPublicCollectionsLoad(t *testing.T) {
	t.Parallel()
	dir, c := project(t)
	front := func(name, rest string) string {
		return "---\nname: " + name + "\n" + rest + "---\n\n# " + name + "\n\nDo it.\n"
	}
	long := strings.Repeat("读写文档 word ", 102)
	skills := map[string]string{
		"plain":       front("plain", "description: Do a thing. Use it when somebody asks for one.\nlicense: Complete terms in LICENSE.txt\n"),
		"quoted":      front("quoted", "description: \"Use this: it has a colon, a # and \\\"quotes\\\". Do NOT use it otherwise.\"\nlicense: Proprietary. LICENSE.txt has complete terms\n"),
		"folded":      front("folded", "description: >-\n  One line\n  and another one.\nmetadata:\n  version: \"1.0\"\n  author: somebody\ncompatibility: any\n"),
		"longest":     front("longest", "description: "+long[:]+"\n"),
		"large-head":  front("large-head", "description: "+strings.Repeat("d", 1068)+"\n"),
		"large":       front("large", "description: A large one.\n") + strings.Repeat("One line of the text of a skill that says much.\n", 5000),
		"large-zh":    front("large-zh", "description: 很长的技能。\n") + strings.Repeat("这是一行很长的说明文字。\n", 3000),
		"many-files":  front("many-files", "description: With many files.\n"),
		"deep":        front("deep", "description: With folders in folders.\n"),
		"tools":       front("tools", "description: With tools.\nallowed-tools: Read, Bash(git add:*)\n"),
		"crlf":        strings.ReplaceAll(front("crlf", "description: With other line ends.\n"), "\n", "\r\n"),
		"other-group": front("other-group", "description: |\n  Line one.\n  Line two.\nversion: 3\nuser-invocable: false\n"),
	}
	for name, text := range skills {
		stdtest.Must(t, file(dir, ".ship/skills/"+name+"/SKILL.md", text))
	}
	var all error
	for i := range 90 {
		all = errors.Join(all, file(dir, fmt.Sprintf(".ship/skills/many-files/fonts/f%d.ttf", i), strings.Repeat("x", 60_000)),
			file(dir, fmt.Sprintf(".ship/skills/deep/a/b/c/schemas/%d/x.xsd", i), "<x/>"))
	}
	stdtest.Must(t, all)
	set := c.Current()
	for _, p := range set.Problems {
		t.Errorf("left out: %s", p)
	}
	if len(set.Skills) != len(skills) {
		t.Errorf("%d skills of %d", len(set.Skills), len(skills))
	}
	for _, k := range set.Skills {
		if warned := k.Warning() != ""; warned != strings.HasPrefix(k.Name, "large") {
			t.Errorf("%s with about %d tokens: warned %t", k.Name, k.Tokens(), warned)
		}
	}
}

// A skill that is refused is named with its reason by whoever is asked about it.
func TestRefusedSkillsAreNamed(t *testing.T) {
	t.Parallel()
	dir, c := project(t)
	description := strings.Repeat("d", 1400)
	for name, text := range map[string]string{
		"wordy": "---\nname: other-name\ndescription: " + description + "\n---\nx\n",
		"huge":  md("huge") + strings.Repeat("x", maxText),
		"fine":  md("fine"),
	} {
		stdtest.Must(t, file(dir, ".ship/skills/"+name+"/SKILL.md", text))
	}
	for name, want := range map[string]string{"wordy": "the description has 1400 characters, at most 1024", "Huge": "SKILL.md has more than 262144 bytes"} {
		_, err := (&load{Options: Options{Catalog: c}}).Invoke(t.Context(), tool.Call{Name: LoadName, Input: []byte(`{"name":"` + name + `"}`)})
		if !errors.Is(err, tool.ErrInput) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strings.ToLower(name)) {
			t.Errorf("load %s: %v", name, err)
		}
	}
	var named []string
	for _, p := range c.Current().Problems {
		named = append(named, p.Skill)
	}
	if strings.Join(named, " ") != "huge wordy" {
		t.Errorf("named are %q", named)
	}
}
