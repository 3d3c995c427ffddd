package archtest_test

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// thorough: what takes minutes is asked for.
func thorough(t *testing.T) {
	t.Helper()
	if os.Getenv("SOAK") == "" {
		t.Skip("takes minutes; SOAK=1 runs it")
	}
}

// command runs the go command at the root of the module.
func command(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir, c.Env = root(t), append(os.Environ(), env...)
	out, err := c.Output()
	if err != nil {
		text := ""
		if e, ok := err.(*exec.ExitError); ok { //nolint:errorlint // the command's own
			text = string(e.Stderr)
		}
		t.Fatalf("go %v: %v\n%s", args, err, text)
	}
	return out
}

// Whoever adds a dependency adds it here, where it is seen.
func TestSU4DirectDependenciesAreListed(t *testing.T) {
	want := []string{
		"github.com/anthropics/anthropic-sdk-go",
		"github.com/asynkron/protoactor-go",
		"github.com/cespare/xxhash/v2",
		"github.com/fsnotify/fsnotify",
		"github.com/go-telegram/bot",
		"github.com/gofrs/flock",
		"github.com/google/go-cmp",
		"github.com/larksuite/oapi-sdk-go/v3",
		"github.com/modelcontextprotocol/go-sdk",
		"github.com/netresearch/go-cron",
		"github.com/orcaman/concurrent-map",
		"github.com/pkoukk/tiktoken-go",
		"github.com/pkoukk/tiktoken-go-loader",
		"github.com/prometheus/client_golang",
		"github.com/prometheus/procfs",
		"github.com/rogpeppe/go-internal",
		"github.com/santhosh-tekuri/jsonschema/v6",
		"github.com/sashabaranov/go-openai",
		"github.com/spf13/cobra",
		"github.com/spf13/pflag", // of cobra: its errors have types
		"github.com/tidwall/gjson",
		"github.com/yuin/goldmark",
		"go.uber.org/goleak",
		"go.yaml.in/yaml/v4",
		"golang.org/x/image",
		"golang.org/x/net",
		"golang.org/x/sys",
		"golang.org/x/term",
		"golang.org/x/text",
		"google.golang.org/protobuf",
		"modernc.org/sqlite",
		"mvdan.cc/sh/v3",
		"pgregory.net/rapid",
		"rsc.io/qr",
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace []struct{ Old, New struct{ Path string } }
	}
	stdtest.Must(t, json.Unmarshal(command(t, nil, "mod", "edit", "-json"), &mod))
	var got []string
	for _, r := range mod.Require {
		if !r.Indirect {
			got = append(got, r.Path)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("direct dependencies (-listed +go.mod):\n%s", diff)
	}
	if len(mod.Replace) > 0 {
		t.Errorf("modules are replaced: %v", mod.Replace)
	}
}

func TestSU4ModulesAreVerified(t *testing.T) {
	thorough(t)
	t.Logf("%s", command(t, nil, "mod", "verify"))
}

// Two builds that share nothing are one program.
func TestSU4TwoBuildsAreEqual(t *testing.T) {
	thorough(t)
	var sums [2][sha256.Size]byte
	for i := range sums {
		var env []string
		if i > 0 {
			env = append(env, "GOCACHE="+t.TempDir())
		}
		file := program(t, env...)
		raw := stdtest.Read(t, file)
		sums[i] = sha256.Sum256(raw)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ: %x, %x", sums[0], sums[1])
	}
	t.Logf("sha256 %x", sums[0])
}

// program builds the program as it is released and returns its path.
func program(t *testing.T, env ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sma")
	command(t, append(env, "CGO_ENABLED=0"), "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -funcalign=1", "-o", file, "./cmd/sma")
	return file
}

// The size of the program, and what it allocates before main begins: in our packages and in all. Neither depends on the
// speed of the machine.
func TestProgramIsSmall(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the limits are those of linux/amd64")
	}
	const maxSize, maxOurs, maxAll = 38_000_000, 250_000, 3_400_000
	file := program(t)
	info, err := os.Stat(file)
	stdtest.Must(t, err)
	if info.Size() > maxSize {
		t.Errorf("the program has %d bytes, want at most %d", info.Size(), maxSize)
	}
	c := exec.CommandContext(t.Context(), file, "version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := c.CombinedOutput()
	stdtest.Must(t, err)
	ours, all := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes,`).FindAllStringSubmatch(string(trace), -1) {
		n, err := strconv.Atoi(m[2])
		stdtest.Must(t, err)
		all += n
		if strings.HasPrefix(m[1], "github.com/shipmyagent/") {
			ours += n
		}
	}
	if all == 0 || ours > maxOurs || all > maxAll {
		t.Errorf("before main, our packages allocate %d bytes, want at most %d; all %d, want at most %d", ours, maxOurs, all, maxAll)
	}
	t.Logf("%d bytes; before main our packages allocate %d bytes, all %d", info.Size(), ours, all)
}
