package uimessage

import (
	"strings"
	"unicode"
)

// IsBlank reports whether a text shows nothing: it consists of white space and of
// characters without width.
func IsBlank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	}) == ""
}
