package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// errTable is wrapped by errors about a table that cannot be used.
var errTable = errors.New("unusable table")

// table is what the sources of one package say.
type table struct {
	pkg string
	// union is the package's exported interface, whose variants have a `type`; marker is its method
	// that does nothing, or empty.
	union, marker string
	objects       []object
	// texts are the package's string types.
	texts map[string]bool
}

// object is a type that takes part.
type object struct {
	name string
	// like is the variant that this one is defined by, or empty.
	like string
	// variant says that the objects have a member `type`, which is tag if that is known.
	variant        bool
	tag            string
	tolerant, open bool
	fields         []field
}

// field is a field of an object. The one for all other members has no name.
type field struct {
	goName, goType, name string
	options              []string
}

func (f field) has(option string) bool { return slices.Contains(f.options, option) }

// isLike reports whether the object is defined by the other.
func (o object) isLike(other object) bool { return other.variant && other.name == o.like }

// absent is the field that says that the member was missing, or empty.
func (f field) absent() string {
	for _, o := range f.options {
		if other, ok := strings.CutPrefix(o, "absent="); ok {
			return other
		}
	}
	return ""
}

// parse reads the sources of a package.
func parse(dir string) (*table, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	t := &table{texts: map[string]bool{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		t.pkg = file.Name.Name
		for _, decl := range file.Decls {
			if err := t.take(decl); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
		}
	}
	return t, nil
}

// take adds what a declaration of one type says to the table.
func (t *table) take(decl ast.Decl) error {
	group, ok := decl.(*ast.GenDecl)
	if !ok || group.Doc == nil || len(group.Specs) != 1 {
		return nil
	}
	spec, ok := group.Specs[0].(*ast.TypeSpec)
	if !ok {
		return nil
	}
	switch typ := spec.Type.(type) {
	case *ast.Ident:
		t.texts[spec.Name.Name] = typ.Name == "string"
	case *ast.InterfaceType:
		if !spec.Name.IsExported() {
			return nil
		}
		t.union = spec.Name.Name
		for _, m := range typ.Methods.List {
			if f, ok := m.Type.(*ast.FuncType); ok && f.Results == nil {
				t.marker = m.Names[0].Name
			}
		}
	}
	for _, c := range group.Doc.List {
		if words, ok := strings.CutPrefix(c.Text, "//codec:"); ok {
			return t.object(spec, strings.Fields(words))
		}
	}
	return nil
}

// object adds a type whose directive has these words.
func (t *table) object(spec *ast.TypeSpec, words []string) error {
	o := object{name: spec.Name.Name, variant: words[0] == "type"}
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		if o.like = types.ExprString(spec.Type); !o.variant || !slices.ContainsFunc(t.objects, o.isLike) {
			return fmt.Errorf("%w: %s is neither a struct nor a variant like an earlier one", errTable, spec.Name)
		}
		s = &ast.StructType{Fields: &ast.FieldList{}}
	}
	if !o.variant && words[0] != "object" {
		return fmt.Errorf("%w: %s has the unknown directive %s", errTable, spec.Name, words[0])
	}
	for _, word := range words[1:] {
		switch word {
		case "tolerant":
			o.tolerant = true
		case "open":
			o.open = true
		default:
			o.tag = word
		}
	}
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("codec")
		}
		words := strings.Split(tag, ",")
		for _, name := range f.Names {
			if tag != "" || name.Name == "Extra" {
				o.fields = append(o.fields, field{name.Name, types.ExprString(f.Type), words[0], words[1:]})
			}
		}
		for _, option := range words[1:] {
			known := []string{"required", "omitempty", "nullable", "word", "func"}
			if !slices.Contains(known, option) && !strings.HasPrefix(option, "absent=") {
				return fmt.Errorf("%w: %s has the unknown option %s", errTable, spec.Name, option)
			}
		}
	}
	t.objects = append(t.objects, o)
	return nil
}
