package keys

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// EnvFile is the file of variables in the project, and its largest size.
const (
	EnvFile    = ".env"
	maxEnvFile = 256 << 10
)

// parseEnv parses a .env file: lines of the form NAME=value, optionally after export, with # comments and single or
// double quotes (\n, \t, \", \\ and \$ in double ones). Nothing is expanded. The last of several lines for a name
// counts. Malformed lines are reported without quoting them.
func (r *Reader) parseEnv(src []byte) {
	r.Variables = map[string]string{}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(src), bom)) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, fault := parseEnvLine(text)
		if fault != "" {
			r.Report(Error, Origin{Source: FromFile, Name: EnvFile, Line: number, Col: 1}, "", fault)
			continue
		}
		r.Variables[name] = value
	}
}

func parseEnvLine(text string) (name, value, fault string) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", "", "the line is not plain UTF-8 text"
	}
	name, value, found := strings.Cut(strings.TrimPrefix(text, "export "), "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || !IsVariable(name) {
		return "", "", "the line is not of the form NAME=value"
	}
	if !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
		value, _, _ = strings.Cut(" "+value, " #")
		return name, strings.TrimSpace(value), ""
	}
	quoted := regexp.MustCompile(`^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(.*)$`).FindStringSubmatch(value)
	switch {
	case quoted == nil:
		return "", "", "the value's quote is not closed on its line"
	case quoted[3] != "" && quoted[3][0] != '#':
		return "", "", "text follows the closing quote of the value"
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`, "$")
	return name, unescape.Replace(quoted[1]) + quoted[2], ""
}
