package tokens

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
