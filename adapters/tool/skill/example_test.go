package skill_test

import (
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
)

// The example of the documentation is a skill.
func Example() {
	catalog := skill.NewCatalog(skill.Root{Base: "../../../docs/examples", Path: "skills", Label: "docs/examples/skills"})
	for _, s := range catalog.Current().Skills {
		fmt.Println(s.Name, s.Folder, s.Files, s.Tools)
	}
	fmt.Println(len(catalog.Current().Problems))
	// Output:
	// release-notes docs/examples/skills/release-notes 2 [list_files read_file search_files write_file]
	// 0
}
