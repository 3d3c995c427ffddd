package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var update = flag.Bool("update", false, "write the references of commands and their documents anew")

// TestReferenceOfCommands: docs/reference/cli.md has the help of every command, and no other.
func TestReferenceOfCommands(t *testing.T) {
	root := (&app{Console: &console.Console{}}).root()
	var b strings.Builder
	b.WriteString("# Commands of sma\n\nWhat `sma COMMAND --help` says. `sma completion SHELL` makes a shell complete commands.\n\n" +
		"These flags work with every command:\n\n```text\n" + root.PersistentFlags().FlagUsages() + "```\n")
	writeCommand(&b, root)
	const file = "../../../docs/reference/cli.md"
	if *update {
		stdtest.Must(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	got := stdtest.Read(t, file)
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/reference/cli.md (-code +file; go test ./cmd/internal/cli -run ReferenceOfCommands -update writes it):\n%s", diff)
	}
}

// writeCommand writes the section of a command, and those of the commands below it.
func writeCommand(b *strings.Builder, c *cobra.Command) {
	if c.Hidden {
		return
	}
	about := strings.TrimSuffix(c.Short, ".") + "."
	if c.Long != "" {
		about += "\n\n" + c.Long
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```text\n%s\n", c.CommandPath(), about, c.UseLine())
	if flags := c.LocalNonPersistentFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(b, "\n%s", flags)
	}
	if c.HasExample() {
		fmt.Fprintf(b, "\nExamples:\n%s\n", c.Example)
	}
	b.WriteString("```\n")
	for _, child := range c.Commands() {
		writeCommand(b, child)
	}
}
