package cmdline

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestFetch(t *testing.T) {
	tests := []struct{ name, line, want, packages string }{
		{"as READMEs write it", "npx -y @scope/server /data --flag", "--yes --package=@scope/server --call=true", "@scope/server"},
		{"a whole path and a version", "/opt/node/bin/npx --yes server@1.2.3", "--yes --package=server@1.2.3 --call=true", "server@1.2.3"},
		{"without -y", "npx server", "--yes --package=server --call=true", "server"},
		{"packages by option", "npx -y -p a --package=b run x", "--yes --package=a --package=b --call=true", "a b"},
		{"a call of a shell", "npx -y -p a -c run", "--yes --package=a --call=true", "a"},
		{"other options", "npx --registry https://r.example.com --quiet server -p x", "--registry https://r.example.com --quiet --yes --package=server --call=true", "server"},
		{"after two dashes", "npx -y -- server -y", "--yes --package=server --call=true", "server"},
		{"nothing to run", "npx -y", "", ""},
		{"a folder", "npx -y ./server", "", ""},
		{"a file", "npx -y file:../server", "", ""},
		{"nothing to be fetched", "npx --no-install server", "", ""},
		{"offline", "npx --offline server", "", ""},
		{"uvx", "uvx mcp-server-time --local-timezone=UTC", "--from mcp-server-time python -c ", "mcp-server-time"},
		{"uvx with a version", "uvx mcp-server-time@1.2 x", "--from mcp-server-time==1.2 python -c ", "mcp-server-time==1.2"},
		{"uvx with the latest", "uvx mcp-server-time@latest", "--from mcp-server-time python -c ", "mcp-server-time"},
		{"uvx with options", "uvx --python 3.12 --from git+https://example.com/x --with y run", "--python 3.12 --with y --from git+https://example.com/x python -c ", "git+https://example.com/x"},
		{"uv tool run", "uv tool run mcp-server-git", "tool run --from mcp-server-git python -c ", "mcp-server-git"},
		{"uv run", "uv run server.py", "", ""},
		{"uvx offline", "uvx --offline server", "", ""},
		{"uvx of a folder", "uvx --from ./server run", "", ""},
		{"another program", "node server.js", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			words := strings.Fields(tt.line)
			fetch, packages := Fetch(words[0], words[1:])
			stdtest.Diff(t, "arguments", tt.want, strings.Join(fetch, " "))
			stdtest.Diff(t, "packages", tt.packages, strings.Join(packages, " "))
		})
	}
}
