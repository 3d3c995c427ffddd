package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestSecretCannotBePrinted(t *testing.T) {
	const canary = "canary-9f2"
	s := NewSecret(canary)
	hidden := struct{ inner Secret }{s} // fmt reads unexported fields by reflection
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "pointer", &s, "wrapped", hidden)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "list", []Secret{s}, "map", map[string]Secret{"k": s})
	encoded, err := json.Marshal(map[string]any{"v": s, "p": &s, "l": []Secret{s}})
	stdtest.Must(t, err)
	text, err := s.MarshalText()
	stdtest.Must(t, err)
	printed := []string{log.String(), string(encoded), string(text), s.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%10.3s"} {
		printed = append(printed, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, hidden), fmt.Sprintf(verb, []Secret{s}), fmt.Sprintf(verb, fmt.Errorf("wrapped: %v", s)))
	}
	for _, p := range printed {
		if strings.Contains(p, canary) || strings.Contains(p, fmt.Sprintf("%x", canary)) {
			t.Errorf("printed: %s", p)
		}
	}
	if got := string(encoded); !strings.Contains(got, `"v":"********"`) {
		t.Errorf("JSON = %s, want Stars", got)
	}
}

func TestSecret(t *testing.T) {
	for _, tt := range []struct {
		name, text, shown string
		zero              bool
	}{
		{"empty", "", "", true},
		{"short", "x", Stars, false},
		{"long", strings.Repeat("x", 100), Stars, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSecret(tt.text)
			if s.Reveal() != tt.text || s.String() != tt.shown || s.IsZero() != tt.zero || !s.Equal(NewSecret(tt.text)) || s.Equal(NewSecret(tt.text+"y")) {
				t.Errorf("secret of %d characters: shown %q, zero %v", len(tt.text), s.String(), s.IsZero())
			}
		})
	}
	var s Secret
	if err := json.Unmarshal([]byte(`"canary"`), &s); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("Unmarshal = %v, want a refusal without the text", err)
	}
}
