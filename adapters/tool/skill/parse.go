package skill

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
)

const (
	// maxText is the maximum size of SKILL.md in bytes, and maxFront that of its front matter.
	maxText  = 256 << 10
	maxFront = 8 << 10
	// maxName and maxDescription are maximum lengths in characters.
	maxName        = 64
	maxDescription = 1024
	// endurable is the maximum length of a description that is cut rather than refused, because some public skills
	// are a little longer than the format allows.
	endurable = maxDescription + maxDescription/4
	// maxTools is how many tools a skill can list.
	maxTools = 64
)

// document is a parsed SKILL.md.
type document struct {
	name, description string // name is empty if the file has none
	tools             []string
	text              string
	cut               int // original length of a description that was cut, otherwise 0
}

// form is the format of SKILL.md.
func form() frontmatter.Form {
	return frontmatter.Form{
		Max: maxFront, Dots: true, Begin: "begin the file with a line ---, then name and description, then a line ---",
		Member: "write lines like name: my-skill", Quote: "put values with a colon or a hash in quotes",
	}
}

// parse parses a SKILL.md. Its errors are faults.
func parse(raw []byte) (document, error) {
	// A carriage return alone makes terminals overwrite the line, so that people would not see all of it.
	before, _, lone := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\r")
	if lone {
		return document{}, frontmatter.Invisible(strings.Count(before, "\n")+1, '\r')
	}
	read, err := form().Read(raw)
	if err != nil {
		return document{}, err
	}
	d, err := members(read.Members)
	if err != nil {
		return document{}, err
	}
	if d.text = read.Text; d.text == "" {
		return document{}, frontmatter.Faultf(read.Line, "write down what to do", "there is no text behind the front matter")
	}
	return d, nil
}

// members reads the known members and ignores others.
func members(all []frontmatter.Member) (document, error) {
	var d document
	seen := map[string]bool{}
	for _, m := range all {
		name := strings.ReplaceAll(strings.ToLower(m.Key.Value), "_", "-")
		if name == "allowedtools" {
			name = "allowed-tools"
		}
		if m.Key.Kind != yaml.ScalarNode || !slices.Contains([]string{"name", "description", "allowed-tools"}, name) {
			continue
		}
		if seen[name] {
			return document{}, frontmatter.Faultf(m.Line(), "keep one of them", "%s is there twice", name)
		}
		seen[name] = true
		var err error
		switch name {
		case "name":
			d.name, err = skillName(m.Value)
		case "description":
			d.description, d.cut, err = description(m.Value)
		default:
			d.tools, err = toolNames(m.Value)
		}
		if err != nil {
			return document{}, err
		}
	}
	if d.description == "" {
		return document{}, frontmatter.Faultf(2, "add a line description: what it is for, and when", "there is no description")
	}
	return d, nil
}

func scalar(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", frontmatter.Faultf(n.Line+1, "write it in one line of text", "%s is not text", what)
	}
	if n.Tag == "!!null" {
		return "", nil
	}
	text := strings.Join(strings.Fields(n.Value), " ")
	for _, r := range text {
		if frontmatter.Hidden(r) { // by an escape of YAML
			return "", frontmatter.Invisible(n.Line+1, r)
		}
	}
	return text, nil
}

func skillName(n *yaml.Node) (string, error) {
	name, err := scalar(n, "name")
	if err == nil && name != "" && !validName(name) {
		err = frontmatter.Faultf(n.Line+1, "use a-z, 0-9, - and _ only, as in my-skill", "the name %.80q cannot be used", name)
	}
	return name, err
}

// validName reports whether a skill can have the name.
func validName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' })
}

// description reads the description. If it is slightly too long it is cut, and cut is its original length.
func description(n *yaml.Node) (text string, cut int, err error) {
	text, err = scalar(n, "description")
	count := utf8.RuneCountInString(text)
	switch {
	case err != nil || count <= maxDescription:
		return text, 0, err
	case count > endurable:
		return "", 0, frontmatter.Faultf(n.Line+1, "say the rest in the text", "the description has %d characters, at most %d", count, maxDescription)
	}
	return string([]rune(text)[:maxDescription-1]) + "…", count, nil
}

// toolNames reads a list, or a text in which commas or spaces separate the names.
func toolNames(n *yaml.Node) ([]string, error) {
	var out []string
	switch n.Kind {
	case yaml.ScalarNode:
		names, err := scalar(n, "allowed-tools")
		if err != nil {
			return nil, err
		}
		out = append(out, splitNames(names)...)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			name, err := scalar(item, "a name in allowed-tools")
			if err != nil {
				return nil, err
			}
			if name != "" {
				out = append(out, name)
			}
		}
	default:
		return nil, frontmatter.Faultf(n.Line+1, "write allowed-tools: Read, Bash", "allowed-tools is not a list")
	}
	if len(out) > maxTools {
		return nil, frontmatter.Faultf(n.Line+1, "leave the line out if it needs them all", "%d allowed-tools, at most %d", len(out), maxTools)
	}
	return out, nil
}

// splitNames splits names at commas and spaces, but not inside of parentheses, as in Bash(git add:*).
func splitNames(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && (r == ',' || unicode.IsSpace(r))
	})
}
