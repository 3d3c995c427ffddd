package provider

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxMessage bounds the provider's text in an error.
const maxMessage = 500

// masker removes secrets from texts: known ones, and what looks like one.
type masker struct {
	known    *strings.Replacer
	patterns []*regexp.Regexp
}

func newMasker(secrets []string) *masker {
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 4 {
			pairs = append(pairs, s, "***")
		}
	}
	return &masker{known: strings.NewReplacer(pairs...), patterns: []*regexp.Regexp{
		regexp.MustCompile(`\b(?:sk|rk|pk|gsk|xai|key)[-_][A-Za-z0-9_*.-]{6,}`),
		regexp.MustCompile(`AIza[A-Za-z0-9_-]{10,}`),
		regexp.MustCompile(`(?i)\bbearer\s+[^\s"',]+`),
		regexp.MustCompile(`(?i)\b(?:api[-_]?key|access[-_]token|token|signature|sig)=[^&\s"']+`),
	}}
}

// mask returns s without secrets.
func (m *masker) mask(s string) string {
	s = m.known.Replace(s)
	for _, p := range m.patterns {
		s = p.ReplaceAllString(s, "***")
	}
	return s
}

// message is mask for a text that becomes part of an error: on one line and of bounded length.
func (m *masker) message(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(m.mask(s), "\uFFFD")), " ")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
