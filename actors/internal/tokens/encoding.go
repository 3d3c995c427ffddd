package tokens

import "strings"

// Encoding names a vocabulary.
type Encoding string

// The encodings.
const (
	O200K  Encoding = "o200k_base"
	CL100K Encoding = "cl100k_base"
)

// EncodingOf is the encoding of this name. Without a name it is that of the newest models.
func EncodingOf(name string) Encoding {
	if name == "" {
		return O200K
	}
	return Encoding(name)
}

// pattern says where an encoding splits text before it looks for tokens, as published with its vocabulary.
func (e Encoding) pattern() string {
	if e == CL100K {
		return `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	}
	return strings.Join([]string{
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`\p{N}{1,3}`,
		` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
		`\s*[\r\n]+`,
		`\s+(?!\S)`,
		`\s+`,
	}, "|")
}
