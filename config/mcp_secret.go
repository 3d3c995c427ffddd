package config

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// spelledOut are the literal secrets in a server's arguments, URL, headers and variables, each with its key. A secret
// is recognized by its form, or by the name of the option, parameter or variable that it is the value of.
func (f *mcpFields) spelledOut(key string) []spelledSecret {
	var out []spelledSecret
	add := func(at string, texts ...string) {
		for _, text := range texts {
			if len(text) >= minLiteral {
				out = append(out, spelledSecret{at, text})
			}
		}
	}
	words := valueWords()
	option := false // the previous word is an option whose value is a secret
	for i, arg := range f.Args {
		at := fmt.Sprintf("%s.args[%d]", key, i)
		add(at, secretsIn(arg)...)
		switch name, value, ok := strings.Cut(arg, "="); {
		case ok && words.MatchString(name) && isOptionOrVariable(name) && !isPath(value):
			add(at, unquoted(value))
		case !strings.HasPrefix(arg, "-") && option && !isPath(arg):
			add(at, arg)
		}
		option = strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && words.MatchString(arg)
	}
	add(key+".url", secretsIn(f.URL.Reveal())...)
	for name, value := range f.Headers {
		add(key+".headers."+name, secretsIn(value.Reveal())...)
	}
	for name, value := range f.Env {
		add(key+".env."+name, secretsIn(value.Reveal())...)
	}
	return out
}

// minLiteral is the minimum length of a text that is treated as a secret, in bytes. Shorter ones may occur by chance.
const minLiteral = 6

// spelledSecret is a secret and its key.
type spelledSecret struct{ key, text string }

// secretsIn are the secrets in a text: those of well-known forms, the credentials of an Authorization header, and
// those in URLs.
func secretsIn(text string) []string {
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

// withoutSpelled is a text without the literal secrets in the settings of the server. Longer secrets are replaced
// first, because one may be a prefix of another.
func (s *MCPServer) withoutSpelled(text string) string {
	secrets := slices.Clone(s.spelled)
	slices.SortStableFunc(secrets, func(a, b Secret) int { return cmp.Compare(len(b.Reveal()), len(a.Reveal())) })
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret.Reveal(), secret.String())
	}
	return text
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
