package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documents is the variable with the path of the reference of JSON documents.
const documents = "SMA_TEST_DOCUMENTS"

// checked runs a command. The JSON document that it writes, if any, or each of its lines, must be as the reference says, and a member that
// the reference lacks is a fault.
func checked(run func() int) int {
	schema, args := os.Getenv(documents), os.Args[1:]
	if schema == "" || !slices.Contains(args, "--json") {
		return run()
	}
	out := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout = w
	var written bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.MultiWriter(out, &written), r) // the command's own reader sees what is missing
	}()
	code := run()
	_ = w.Close()
	<-ended
	if err := checkDocument(schema, args, written.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, "docs/reference/documents.schema.json:", err)
		return 99
	}
	return code
}

func checkDocument(file string, args []string, document []byte) error {
	text, err := os.ReadFile(file)
	if err != nil || len(document) == 0 {
		return err
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	commands, _ := all["$defs"].(map[string]any)
	name := ""
	for n := range min(2, len(args)) {
		if words := "sma " + strings.Join(args[:n+1], " "); commands[words] != nil {
			name = words
		}
	}
	if name == "" {
		return nil
	}
	if all := name + " --all"; commands[all] != nil && slices.Contains(args, "--all") {
		name = all
	}
	list := [][]byte{document}
	if followed := name + " -f"; commands[followed] != nil && slices.Contains(args, "-f") {
		name = followed
	}
	if name == "sma logs" || strings.HasSuffix(name, " -f") {
		list = bytes.Split(bytes.TrimSuffix(document, []byte("\n")), []byte("\n")) // each line is one document
	}
	closed(commands)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("documents.json", all); err != nil {
		return err
	}
	schema, err := c.Compile("documents.json#/$defs/" + strings.ReplaceAll(name, " ", "%20"))
	if err != nil {
		return err
	}
	for _, one := range list {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(one))
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", one, err)
		}
	}
	return nil
}

// closed makes schemas refuse members that they do not name.
func closed(v any) {
	if list, ok := v.([]any); ok {
		for _, inner := range list {
			closed(inner)
		}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, inner := range m {
		closed(inner)
	}
	if _, ok := m["properties"].(map[string]any); ok && m["type"] == "object" {
		m["additionalProperties"] = false
	}
}
