package config

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// envFileName is the file of variables in the project, and its largest size.
const (
	envFileName = ".env"
	maxEnvFile  = 256 << 10
)

// parseEnv reads the lines of a .env file: NAME=value, optionally after export,
// with # comments and single or double quotes (\n, \t, \", \\ and \$ in double
// ones). Nothing is expanded. The last of several lines of a name counts. Lines
// that cannot be read become findings that do not quote them.
func parseEnv(src []byte) (map[string]string, []Finding) {
	vars := map[string]string{}
	var findings []Finding
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	number := 0
	for line := range strings.Lines(string(src)) {
		number++
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, fault := parseEnvLine(text)
		if fault != "" {
			findings = append(findings, Finding{Severity: Error, File: envFileName, Line: number, Col: 1, Message: fault})
			continue
		}
		vars[name] = value
	}
	return vars, findings
}

func parseEnvLine(text string) (name, value, fault string) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", "", "the line is not plain UTF-8 text"
	}
	if rest, ok := strings.CutPrefix(text, "export "); ok {
		text = strings.TrimSpace(rest)
	}
	name, rest, found := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !found || !isVariable(name) {
		return "", "", "the line is not of the form NAME=value"
	}
	value, fault = parseEnvValue(strings.TrimSpace(rest))
	return name, value, fault
}

func parseEnvValue(s string) (value, fault string) {
	if s == "" {
		return "", ""
	}
	if s[0] != '"' && s[0] != '\'' {
		if i := strings.Index(s, " #"); i >= 0 {
			s = strings.TrimSpace(s[:i])
		}
		if s != "" && s[0] == '#' {
			s = ""
		}
		return s, ""
	}
	value, rest, closed := unquoteEnv(s)
	rest = strings.TrimSpace(rest)
	switch {
	case !closed:
		return "", "the value's quote is not closed on its line"
	case rest != "" && rest[0] != '#':
		return "", "text follows the closing quote of the value"
	}
	return value, ""
}

// unquoteEnv reads a quoted value up to its closing quote.
func unquoteEnv(s string) (value, rest string, closed bool) {
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return b.String(), s[i+1:], true
		case c == '\\' && quote == '"' && i+1 < len(s):
			i++
			b.WriteString(unescapeEnv(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

func unescapeEnv(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(c)
	}
	return `\` + string(c)
}
