package uimessage

import (
	"strings"
	"unicode"
)

// IsBlank reports whether there is nothing to see in a text: white space, and what has
// no width.
func IsBlank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	}) == ""
}
