package tokens

import "strings"

// Encoding names a vocabulary.
type Encoding string

// The encodings.
const (
	O200K  Encoding = "o200k_base"
	CL100K Encoding = "cl100k_base"
)

// EncodingOf is the encoding of a model, by its name with or without the vendor prefix. An unknown
// model is counted like the newest ones.
func EncodingOf(model string) Encoding {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	switch {
	case strings.HasPrefix(name, "gpt-4o"), strings.HasPrefix(name, "gpt-4."):
		return O200K
	case strings.HasPrefix(name, "gpt-4"), strings.HasPrefix(name, "gpt-3.5"), strings.HasPrefix(name, "gpt-35"),
		strings.HasPrefix(name, "text-embedding-"):
		return CL100K
	}
	return O200K
}
