package grant

import "strings"

// optionSet holds the options of one program for lookup.
type optionSet struct {
	style   string
	numeric bool
	flags   map[string]bool
	values  map[string]bool
	letters *[256]need // the one-letter options of flags and values
}

func newOptionSet(o options) optionSet {
	set := optionSet{
		style: o.Style, numeric: o.Numeric,
		flags: make(map[string]bool), values: make(map[string]bool), letters: new([256]need),
	}
	add := func(to map[string]bool, names []string, n need) {
		for _, name := range names {
			name = set.spelling(name)
			to[name] = true
			if len(name) == 2 {
				set.letters[name[1]] = n
			}
		}
	}
	add(set.values, o.Values, wantValue)
	add(set.flags, o.Flags, alone)
	return set
}

// spelling returns the form in which an option is listed. In the Go style, two dashes equal one.
func (set optionSet) spelling(option string) string {
	if set.style == styleGo && strings.HasPrefix(option, "--") {
		return option[1:]
	}
	return option
}

// need says what an option requires of the next word.
type need uint8

const (
	refused   need = iota // the option is not listed
	alone                 // it has no value in the next word
	wantValue             // the next word is its value
)

// needOf looks up one option word, which is a dash and at least one more byte.
func (set optionSet) needOf(option string) need {
	if set.numeric && digits(option[1:]) {
		return alone
	}
	option = set.spelling(option)
	switch {
	case set.flags[option]:
		return alone
	case set.values[option]:
		return wantValue
	case set.style == styleFind:
		return refused
	}
	name, value, attached := strings.Cut(option, "=")
	isLong := strings.HasPrefix(option, "--") || set.style == styleGo
	switch {
	case isLong && attached && value != "" && set.values[name]:
		return alone
	case isLong:
		return refused
	default:
		return set.cluster(option[1:])
	}
}

// cluster looks up letters after one dash: flags, of which the last may be an option with its value attached or in the
// next word.
func (set optionSet) cluster(letters string) need {
	if set.letters == nil {
		return refused // no options are listed
	}
	for i := range len(letters) {
		switch set.letters[letters[i]] {
		case refused:
			return refused
		case wantValue:
			if i+1 < len(letters) {
				return alone
			}
			return wantValue
		case alone:
		}
	}
	return alone
}
