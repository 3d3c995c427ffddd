package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/cmdline"
)

// spelledOut are the literal secrets in a server's arguments, URL, headers and variables, each with its key.
func (f *mcpFields) spelledOut(key string) []spelledSecret {
	var out []spelledSecret
	add := func(at string, texts ...string) {
		for _, text := range texts {
			if len(text) >= minLiteral {
				out = append(out, spelledSecret{at, text})
			}
		}
	}
	for i, secrets := range cmdline.ArgSecrets(f.Args) {
		add(fmt.Sprintf("%s.args[%d]", key, i), secrets...)
	}
	add(key+".url", cmdline.Secrets(f.URL.Reveal())...)
	for name, value := range f.Headers {
		add(key+".headers."+name, cmdline.Secrets(value.Reveal())...)
	}
	for name, value := range f.Env {
		add(key+".env."+name, cmdline.Secrets(value.Reveal())...)
	}
	return out
}

// minLiteral is the minimum length of a text that is treated as a secret, in bytes. Shorter ones may occur by chance.
const minLiteral = 6

// spelledSecret is a secret and its key.
type spelledSecret struct{ key, text string }

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
