package main

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
)

var _ parser.IDs = ids{}

// ids gives headings the names that they have on the forge, so that the same links work there and here.
type ids map[string]bool

func (s ids) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	unique := name
	for n := 1; s[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	s[unique] = true
	return []byte(unique)
}

func (s ids) Put(value []byte) { s[string(value)] = true }
