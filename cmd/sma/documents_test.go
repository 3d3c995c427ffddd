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

// checked runs a command. The JSON document that it writes, if any, must be as the reference says, and a member that
// the reference lacks is a fault.
func checked(run func() int) int {
	schema, args := os.Getenv(documents), os.Args[1:]
	if schema == "" || !slices.Contains(args, "--json") || slices.ContainsFunc(args, func(arg string) bool { return arg == "-f" || arg == "--follow" }) {
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
	closed(commands)
	c := jsonschema.NewCompiler()
	if err := c.AddResource("documents.json", all); err != nil {
		return err
	}
	schema, err := c.Compile("documents.json#/$defs/" + strings.ReplaceAll(name, " ", "%20"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// closed makes schemas refuse members that they do not name.
func closed(v any) {
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
