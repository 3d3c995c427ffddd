package cmdline

import (
	"net/url"
	"regexp"
	"strings"
)

// ArgSecrets are the literal secrets in each argument of a program. A secret is recognized by its form, or by the name
// of the option or variable that it is the value of.
func ArgSecrets(args []string) [][]string {
	out := make([][]string, len(args))
	words := valueWords()
	option := false // the previous word is an option whose value is a secret
	for i, arg := range args {
		out[i] = Secrets(arg)
		switch name, value, ok := strings.Cut(arg, "="); {
		case ok && words.MatchString(name) && isOptionOrVariable(name) && !isPath(value):
			out[i] = append(out[i], unquoted(value))
		case !strings.HasPrefix(arg, "-") && option && !isPath(arg):
			out[i] = append(out[i], arg)
		}
		option = strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && words.MatchString(arg)
	}
	return out
}

// Secrets are the secrets in a text: those of well-known forms, the credentials of an Authorization header, and
// those in URLs.
func Secrets(text string) []string {
	var out []string
	forms := regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|ntn_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|tvly-[A-Za-z0-9-]{12,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|[0-9]{8,10}:[A-Za-z0-9_-]{35})`)
	out = append(out, forms.FindAllString(text, -1)...)
	for _, form := range []string{
		`(?i)^(?:[a-z-]*authorization:\s*)?(?:bearer|basic|token)\s+(\S{6,})$`,
		`(?i)^[a-z-]*(?:token|key|secret|cookie)[a-z-]*:\s*(\S{6,})$`, // another header
	} {
		if found := regexp.MustCompile(form).FindStringSubmatch(text); found != nil {
			out = append(out, found[1])
		}
	}
	for _, address := range regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s'"]+`).FindAllString(text, -1) {
		out = append(out, secretsOf(address)...)
	}
	return out
}

// secretsOf are the secrets in a URL, as written: its password, and parameters that are secret by their name.
func secretsOf(address string) []string {
	var out []string
	_, rest, _ := strings.Cut(address, "://")
	authority, _, _ := strings.Cut(rest, "/")
	if user, _, ok := strings.Cut(authority, "@"); ok {
		name, password, both := strings.Cut(user, ":")
		if !both {
			password = name // a token instead of the name
		}
		out = append(out, password, unescaped(password))
	}
	_, query, _ := strings.Cut(rest, "?")
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok && valueWords().MatchString(name) {
			out = append(out, value, unescaped(value))
		}
	}
	return out
}

// valueWords matches the names of options and parameters whose value is a secret.
func valueWords() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:api[-_]?key|access[-_]?key|private[-_]?key|secret[-_]?key|token|secret|password|passwd|pwd|credentials?)$|^-*(?:key|pass|auth|sig|signature)$`)
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// isOptionOrVariable reports whether the text before an equals sign has the form --name or NAME.
func isOptionOrVariable(name string) bool {
	return regexp.MustCompile(`^(?:--?[A-Za-z][A-Za-z0-9_.-]*|[A-Za-z_][A-Za-z0-9_]*)$`).MatchString(name)
}

func isPath(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/")
}

func unquoted(text string) string { return strings.Trim(text, `"'`) }
