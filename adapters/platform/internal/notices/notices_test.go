package notices

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWords checks that every text exists in both languages, with the same placeholders, and is
// short enough for its place.
func TestWords(t *testing.T) {
	en, zh := reflect.ValueOf(English("")), reflect.ValueOf(Chinese(""))
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
	if got := Fill(English("").Approved, "{} of {}"); got != "{} of {} may use me now." {
		t.Errorf("filled: %q", got)
	}
	if got := Fill(English("").GroupAdded, "{}", "{} too"); got != "{} has added me to the group {} too. May its members use me?" {
		t.Errorf("filled: %q", got)
	}
}
