package respond

import (
	"net/http"
	"strings"
)

// ReadsChinese reports whether a browser prefers Chinese.
func ReadsChinese(r *http.Request) bool {
	return strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "zh")
}

// CodeHeader carries the code of a refusal whose body is only a sentence.
const CodeHeader = "Error-Code"

// Style is how a refusal is written for a client.
type Style struct {
	Sentence bool // only the sentence, not JSON
	Chinese  bool
}

// StyleOf derives the style from a request. Clients of the AI SDK show people the body of a refusal
// as it is, and accept anything: they get the sentence, and so do browsers that open a page.
// Programs that accept JSON, or do not say what they accept, get JSON with a code.
func StyleOf(r *http.Request) Style {
	accept := r.Header.Get("Accept")
	isStream := r.URL.Path == "/api/chat" || strings.HasPrefix(r.URL.Path, "/api/chat/") && strings.HasSuffix(r.URL.Path, "/stream")
	isPage := !strings.Contains(r.URL.Path, "/api/") && strings.Contains(accept, "text/html")
	return Style{
		Sentence: isPage || isStream && accept != "" && !strings.Contains(strings.ToLower(accept), "application/json"),
		Chinese:  ReadsChinese(r),
	}
}
