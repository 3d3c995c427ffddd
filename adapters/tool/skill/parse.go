package skill

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

const (
	// maxText is the longest SKILL.md in bytes, and maxFront the longest front matter.
	maxText  = 32 << 10
	maxFront = 8 << 10
	// maxName and maxDescription are the longest of their kind, in characters.
	maxName        = 64
	maxDescription = 1024
	// maxTools is how many tools a skill can name.
	maxTools = 64
)

// document is a SKILL.md as it was parsed.
type document struct {
	name, description string // the name is empty if the file does not say
	tools             []string
	text              string
}

// fault is what is wrong with a file, and at which line; 0: with the whole of it.
type fault struct {
	line       int
	what, hint string
}

// Error implements error.
func (f fault) Error() string { return f.what + "; " + f.hint }

func faultf(line int, hint, what string, args ...any) error {
	return fault{line, fmt.Sprintf(what, args...), hint}
}

const hintFront = "begin the file with a line ---, then name and description, then a line ---"

// parse reads a SKILL.md: YAML front matter between two lines ---, and the text.
// Its errors are faults.
func parse(raw []byte) (document, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if err := checkText(raw); err != nil {
		return document{}, err
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	front, body, err := split(text)
	if err != nil {
		return document{}, err
	}
	d, err := parseFront(front)
	if err != nil {
		return document{}, err
	}
	if d.text = strings.TrimSpace(body); d.text == "" {
		return document{}, faultf(strings.Count(front, "\n")+2, "write down what to do", "there is no text behind the front matter")
	}
	return d, nil
}

// checkText refuses what people cannot see but a model can read.
func checkText(raw []byte) error {
	line := 1
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && n <= 1:
			return faultf(line, "save the file as UTF-8", "bytes that are no UTF-8")
		case r == '\t' || r == '\r':
		case unicode.IsControl(r), hidden(r):
			return faultf(line, "remove it", "an invisible character U+%04X", r)
		}
		i += n
	}
	return nil
}

// hidden characters change the order of what is shown, or spell words that are not.
func hidden(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r >= 0xE0000 && r <= 0xE007F || r == 0x2028 || r == 0x2029
}

// split parts the front matter from the text.
func split(text string) (front, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", faultf(1, hintFront, "there is no front matter")
	}
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if end := strings.TrimRight(line, " \t"); end == "---" || end == "..." {
			front = rest[:at]
			if len(front) > maxFront {
				return "", "", faultf(1, "move it into the text", "the front matter has %d bytes, at most %d", len(front), maxFront)
			}
			return front, rest[min(len(rest), at+len(line)+1):], nil
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", faultf(1, hintFront, "the front matter does not end")
}

// parseFront reads the members that count. Others are left alone.
func parseFront(front string) (document, error) {
	var root yaml.Node
	if err := parseYAML(front, &root); err != nil {
		return document{}, faultf(min(lineOf(err), strings.Count(front, "\n"))+1, "put values with a colon or a hash in quotes", "the front matter is no YAML")
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return document{}, faultf(2, "write lines like name: my-skill", "the front matter has no members")
	}
	var d document
	seen := map[string]bool{}
	members := root.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		key, value := members[i], members[i+1]
		name := strings.ReplaceAll(strings.ToLower(key.Value), "_", "-")
		if name == "allowedtools" {
			name = "allowed-tools"
		}
		if key.Kind != yaml.ScalarNode || !slices.Contains([]string{"name", "description", "allowed-tools"}, name) {
			continue
		}
		if seen[name] {
			return document{}, faultf(key.Line+1, "keep one of them", "%s is there twice", name)
		}
		seen[name] = true
		var err error
		switch name {
		case "name":
			d.name, err = skillName(value)
		case "description":
			d.description, err = description(value)
		default:
			d.tools, err = toolNames(value)
		}
		if err != nil {
			return document{}, err
		}
	}
	if d.description == "" {
		return document{}, faultf(2, "add a line description: what it is for, and when", "there is no description")
	}
	return d, nil
}

// parseYAML parses YAML. What its reader cannot survive is no YAML.
func parseYAML(text string, node *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("line 1: it cannot be read")
		}
	}()
	return yaml.Unmarshal([]byte(text), node)
}

// lineOf is the line that a YAML error names; without one it is the first.
func lineOf(err error) int {
	line := 1
	if m := regexp.MustCompile(`line (\d{1,6})`).FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscanf(m[1], "%d", &line) // digits
	}
	return line
}

func scalar(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", faultf(n.Line+1, "write it in one line of text", "%s is no text", what)
	}
	if n.Tag == "!!null" {
		return "", nil
	}
	return strings.Join(strings.Fields(n.Value), " "), nil
}

func skillName(n *yaml.Node) (string, error) {
	name, err := scalar(n, "name")
	if err == nil && name != "" && !validName(name) {
		err = faultf(n.Line+1, "use a-z, 0-9, - and _ only, as in my-skill", "the name %.80q cannot be used", name)
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

func description(n *yaml.Node) (string, error) {
	text, err := scalar(n, "description")
	if err == nil && utf8.RuneCountInString(text) > maxDescription {
		err = faultf(n.Line+1, "say the rest in the text", "the description has %d characters, at most %d", utf8.RuneCountInString(text), maxDescription)
	}
	return text, err
}

// toolNames reads a list, or a text with commas or blanks between the names.
func toolNames(n *yaml.Node) ([]string, error) {
	var out []string
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
	case n.Kind == yaml.ScalarNode:
		out = splitNames(n.Value)
	case n.Kind == yaml.SequenceNode:
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
		return nil, faultf(n.Line+1, "write allowed-tools: Read, Bash", "allowed-tools is no list")
	}
	if len(out) > maxTools {
		return nil, faultf(n.Line+1, "leave the line out if it needs them all", "%d allowed-tools, at most %d", len(out), maxTools)
	}
	return out, nil
}

// splitNames parts names at commas and blanks, but not within brackets, as in
// Bash(git add:*).
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
