package notices

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestWords: every text is there in both languages, with a place for a value where the
// other has one, and short enough for what shows it.
func TestWords(t *testing.T) {
	en, zh := reflect.ValueOf(English()), reflect.ValueOf(Chinese())
	for i := range en.NumField() {
		if en.Field(i).Kind() != reflect.String {
			continue
		}
		name, a, b := en.Type().Field(i).Name, en.Field(i).String(), zh.Field(i).String()
		if a == "" || b == "" || a == b {
			t.Errorf("%s: %q and %q", name, a, b)
		}
		if strings.Count(a, "{}") != strings.Count(b, "{}") {
			t.Errorf("%s: a place for a value in one language alone: %q and %q", name, a, b)
		}
		if max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) > 200 {
			t.Errorf("%s is too long", name)
		}
	}
	if got := Fill(English().Approved, "{} of {}"); got != "{} of {} may use me now." {
		t.Errorf("filled: %q", got)
	}
	if got := Fill(English().GroupAdded, "{}", "{} too"); got != "{} has added me to the group {} too. May its members use me?" {
		t.Errorf("filled: %q", got)
	}
}

func TestHourly(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := NewHourly(func() time.Time { return now })
	for _, c := range []struct {
		after time.Duration
		key   string
		want  bool
	}{
		{0, "a", true},
		{0, "a", false},
		{0, "b", true},
		{time.Hour - 1, "a", false},
		{1, "a", true},
		{-24 * time.Hour, "a", true}, // the clock was set back
		{0, "a", false},
	} {
		now = now.Add(c.after)
		if got := h.Pass(c.key); got != c.want {
			t.Errorf("%v later, %s: %t", c.after, c.key, got)
		}
	}
	for i := range 3 * maxHourly {
		h.Pass(fmt.Sprint("person ", i))
		if len(h.last) > maxHourly {
			t.Fatalf("%d keys are known", len(h.last))
		}
	}
}
