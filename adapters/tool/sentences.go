package tool

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// sentences are the texts of a file of words, which is written in a part of the language of text/template: if, with,
// fields, and functions. That package itself finds methods by names that are known only at run time, for which the
// linker keeps every exported method of the program: the program would be 5 MB larger.
type sentences struct {
	trees map[string]*parse.Tree
	funcs map[string]any
}

// parseSentences reads a file that may call these functions and a few for conditions.
func parseSentences(file string, funcs map[string]any) (sentences, error) {
	funcs["not"] = func(a any) bool { return !isTrue(a) }
	funcs["or"] = func(a, b any) bool { return isTrue(a) || isTrue(b) }
	funcs["eq"] = func(a, b any) bool { return a == b }
	funcs["ne"] = func(a, b any) bool { return a != b }
	funcs["gt"] = func(a, b int) bool { return a > b }
	trees, err := parse.Parse("words", file, "", "", funcs)
	return sentences{trees: trees, funcs: funcs}, err
}

// say is the text with a name, about a struct or a map whose fields it mentions.
func (s sentences) say(name string, about any) (string, error) {
	tree := s.trees[name]
	if tree == nil {
		return "", fmt.Errorf("there is no text %s", name)
	}
	var out strings.Builder
	if err := s.write(&out, tree.Root, about); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return out.String(), nil
}

// write writes a part of a text; dot is what the text calls ".".
func (s sentences) write(out *strings.Builder, part parse.Node, dot any) error {
	switch part := part.(type) {
	case *parse.ListNode:
		for _, p := range part.Nodes {
			if err := s.write(out, p, dot); err != nil {
				return err
			}
		}
		return nil
	case *parse.TextNode:
		out.Write(part.Text)
		return nil
	case *parse.ActionNode:
		value, err := s.evaluate(part.Pipe, dot)
		fmt.Fprint(out, value)
		return err
	case *parse.IfNode:
		return s.choose(out, &part.BranchNode, dot)
	case *parse.WithNode:
		return s.choose(out, &part.BranchNode, dot)
	}
	return fmt.Errorf("%s is not understood", part)
}

// choose writes one branch of a condition.
func (s sentences) choose(out *strings.Builder, b *parse.BranchNode, dot any) error {
	value, err := s.evaluate(b.Pipe, dot)
	switch {
	case err != nil:
		return err
	case isTrue(value) && b.NodeType == parse.NodeWith:
		return s.write(out, b.List, value)
	case isTrue(value):
		return s.write(out, b.List, dot)
	case b.ElseList != nil:
		return s.write(out, b.ElseList, dot)
	}
	return nil
}

// evaluate is the value of a call, a field or a constant.
func (s sentences) evaluate(n parse.Node, dot any) (any, error) {
	switch n := n.(type) {
	case *parse.PipeNode:
		if len(n.Cmds) == 1 && len(n.Decl) == 0 {
			return s.evaluate(n.Cmds[0], dot)
		}
	case *parse.CommandNode:
		if len(n.Args) == 1 {
			return s.evaluate(n.Args[0], dot)
		}
		return s.call(n.Args, dot)
	case *parse.DotNode:
		return dot, nil
	case *parse.FieldNode:
		if len(n.Ident) == 1 {
			return field(dot, n.Ident[0])
		}
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return int(n.Int64), nil
	}
	return nil, fmt.Errorf("%s is not understood", n)
}

// call calls the function that is named first with the values after it.
func (s sentences) call(nodes []parse.Node, dot any) (any, error) {
	f := reflect.ValueOf(s.funcs[nodes[0].String()])
	if !f.IsValid() || f.Type().NumIn() != len(nodes)-1 {
		return nil, fmt.Errorf("%s is not called like this", nodes[0])
	}
	var args []reflect.Value
	for i, n := range nodes[1:] {
		value, err := s.evaluate(n, dot)
		if err != nil {
			return nil, err
		}
		arg := reflect.ValueOf(value)
		if !arg.IsValid() || !arg.Type().AssignableTo(f.Type().In(i)) {
			return nil, fmt.Errorf("%s does not take %s, which is %T", nodes[0], n, value)
		}
		args = append(args, arg)
	}
	return f.Call(args)[0].Interface(), nil
}

// field is a field of a struct, or a value of a map.
func field(of any, name string) (any, error) {
	v := reflect.ValueOf(of)
	switch v.Kind() {
	case reflect.Struct:
		v = v.FieldByName(name)
	case reflect.Map:
		v = v.MapIndex(reflect.ValueOf(name))
	default:
		return nil, errors.New("there are no fields here: " + name)
	}
	if !v.IsValid() {
		return nil, errors.New("there is no field " + name)
	}
	return v.Interface(), nil
}

// isTrue reports whether a value is neither zero nor empty.
func isTrue(value any) bool {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() > 0
	}
	return v.IsValid() && !v.IsZero()
}
