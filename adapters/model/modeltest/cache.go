package modeltest

import (
	"bytes"
	"slices"
)

// Accounting are the tokens that one call is billed for.
type Accounting struct {
	InputTokens int // all of them
	CacheRead   int // those of InputTokens that were read from the cache
	CacheWrite  int // those of InputTokens that were written to it, if a service counts them
	Output      int // reasoning included; 0 until the answer has ended
	Body        int // the index of the request in the Bodies of the server
}

// PromptCache accounts for a service that caches the beginnings of prompts by itself, as OpenAI does
// for models before gpt-5.6: it reads the longest beginning that an earlier prompt had, from 1,024
// tokens on and in steps of 128 tokens (OpenAI's guide "Prompt caching" and its cookbook "Prompt
// Caching 201", section 1.1). The service may miss; this cache never does, and its entries never expire. The
// zero value is empty. It is not safe for concurrent use.
type PromptCache struct {
	prompts map[string][][]byte // by key
}

// Account counts the tokens of a prompt, which is everything that the model reads in the order in
// which it reads it, and keeps the prompt. Prompts with different keys share nothing.
func (c *PromptCache) Account(key string, prompt []byte) Accounting {
	const least, step = 1024, 128
	call := Accounting{InputTokens: Tokens(len(prompt))}
	for _, earlier := range c.prompts[key] {
		if n := common(prompt, earlier) / tokenBytes; n >= least {
			call.CacheRead = max(call.CacheRead, n/step*step)
		}
	}
	if c.prompts == nil {
		c.prompts = map[string][][]byte{}
	}
	isContained := func(earlier []byte) bool { return bytes.HasPrefix(prompt, earlier) }
	c.prompts[key] = append(slices.DeleteFunc(c.prompts[key], isContained), prompt)
	return call
}

const tokenBytes = 4

// Tokens is the number of tokens of a text of so many bytes.
func Tokens(size int) int { return (size + tokenBytes - 1) / tokenBytes }

// common returns the length of the common prefix.
func common(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
