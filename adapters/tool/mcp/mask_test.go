package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

// Of two secrets of which one begins the other nothing is left, in texts and in JSON,
// however JSON writes their signs.
func TestSecretsAreMaskedWhole(t *testing.T) {
	const short, long, odd = "sk-live-1", "sk-live-1-canary", `a"<&>` + "\u2028canary"
	r := &remote{c: &client{server: &Server{Hidden: []string{short, long, odd}}}}
	if got := r.c.server.mask("x " + long + " y " + short); got != "x "+stars+" y "+stars {
		t.Errorf("a text: %q", got)
	}
	raw, err := canonicalOf(map[string]string{"a": long, "b": odd, "c": "x" + odd + "y"})
	if err != nil {
		t.Fatal(err)
	}
	got := r.maskJSON(raw)
	if want := `{"a":"` + stars + `","b":"` + stars + `","c":"x` + stars + `y"}`; string(got) != want || !json.Valid(got) || strings.Contains(string(got), "canary") {
		t.Errorf("JSON: %s, want %s", got, want)
	}
}
