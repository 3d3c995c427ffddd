package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestLoadNothing(t *testing.T) {
	loaded, err := Load(Options{Dir: t.TempDir()})
	stdtest.Must(t, err)
	if diff := cmp.Diff(Default(), loaded.Settings); diff != "" {
		t.Errorf("settings of an empty project (-default +got):\n%s", diff)
	}
	if len(loaded.Findings) != 0 {
		t.Errorf("findings: %v", loaded.Findings)
	}
}

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "x", 0o600)
	if _, err := Load(Options{Dir: filepath.Join(dir, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if _, err := Load(Options{Dir: file}); err == nil {
		t.Error("a file passed for a folder")
	}
	for _, name := range []string{FileName, keys.EnvFile} {
		sub := t.TempDir()
		stdtest.Must(t, os.Mkdir(filepath.Join(sub, name), 0o700))
		_, err := Load(Options{Dir: sub})
		if want := name + ": the file cannot be read: it is not a regular file"; err == nil || err.Error() != want {
			t.Errorf("Load = %v, want %s", err, want)
		}
	}
}

// TestTelegramSwitch: a token from any source turns the bot on, unless ship.json turns it off.
func TestTelegramSwitch(t *testing.T) {
	const model = `"llm": {"apiKey": "${KEY:-k}"}`
	for _, tt := range []struct {
		name, ship, dotEnv string
		env                map[string]string
		want               bool
	}{
		{"nothing", `{` + model + `}`, "", nil, false},
		{"well-known variable", `{` + model + `}`, "", map[string]string{"TELEGRAM_BOT_TOKEN": "1:a"}, true},
		{"well-known variable in .env", `{` + model + `}`, "TELEGRAM_BOT_TOKEN=1:a", nil, true},
		{"empty variable hides .env", `{` + model + `}`, "TELEGRAM_BOT_TOKEN=1:a", map[string]string{"TELEGRAM_BOT_TOKEN": ""}, false},
		{"own variable", `{` + model + `}`, "", map[string]string{"SMA_ADAPTERS_TELEGRAM_BOT_TOKEN": "1:a"}, true},
		{"literal", `{` + model + `, "adapters": {"telegram": {"botToken": "1:a"}}}`, "", nil, true},
		{"reference", `{` + model + `, "adapters": {"telegram": {"botToken": "${T}"}}}`, "T=1:a", nil, true},
		{"empty reference", `{` + model + `, "adapters": {"telegram": {"botToken": "${T:-}"}}}`, "", nil, false},
		{"switched off", `{` + model + `, "adapters": {"telegram": {"enabled": false}}}`, "", map[string]string{"TELEGRAM_BOT_TOKEN": "1:a"}, false},
		{"switched off with a token", `{` + model + `, "adapters": {"telegram": {"enabled": false, "botToken": "1:a"}}}`, "", nil, false},
		{"variable overrides off", `{` + model + `, "adapters": {"telegram": {"enabled": false, "botToken": "1:a"}}}`, "", map[string]string{"SMA_ADAPTERS_TELEGRAM_ENABLED": "1"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			loaded, err := Load(Options{Dir: project(t, tt.ship, tt.dotEnv), Env: environment(tt.env)})
			stdtest.Must(t, err)
			if got := loaded.Settings.Adapters.Telegram.Enabled; got != tt.want {
				t.Errorf("enabled = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestOpenAIKeyStaysWithItsAPI: the well-known key is not sent to other providers.
func TestOpenAIKeyStaysWithItsAPI(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "sk-openai", "OPENAI_BASE_URL": "https://proxy.example/v1"}
	for _, tt := range []struct{ name, ship, provider, baseURL, key string }{
		{"nothing set", `{}`, ProviderOpenAI, "https://proxy.example/v1", "sk-openai"},
		{"custom", `{"llm": {"provider": "custom", "baseUrl": "http://127.0.0.1:1/v1", "model": "m"}}`, ProviderCustom, "http://127.0.0.1:1/v1", "sk-openai"},
		{"deepseek", `{"llm": {"provider": "deepseek", "apiKey": "own"}}`, ProviderDeepSeek, "https://api.deepseek.com/v1", "own"},
		{"demo", `{"llm": {"provider": "demo"}}`, ProviderDemo, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			loaded, err := Load(Options{Dir: project(t, tt.ship, ""), Env: environment(env)})
			stdtest.Must(t, err)
			llm := loaded.Settings.LLM
			if llm.Provider != tt.provider || llm.BaseURL != tt.baseURL || llm.APIKey.Reveal() != tt.key {
				t.Errorf("got %s %s, key of %d characters; want %s %s", llm.Provider, llm.BaseURL, len(llm.APIKey.Reveal()), tt.provider, tt.baseURL)
			}
		})
	}
}

// TestTelegramNeedsAModel: the bot runs with a key, or with a model server on this machine, which
// needs no key.
func TestTelegramNeedsAModel(t *testing.T) {
	const local = `"baseUrl": "http://127.0.0.1:11434/v1"`
	for _, tt := range []struct{ name, llm, wrong string }{
		{"nothing", `{}`, "adapters.telegram.enabled"},
		{"demo", `{"provider": "demo"}`, "adapters.telegram.enabled"},
		{"empty key", `{"apiKey": ""}`, "llm.apiKey"},
		{"openai without a key", `{"provider": "openai"}`, "llm.apiKey"},
		{"openai's own address without a key", `{"baseUrl": "https://api.openai.com/v1"}`, "llm.apiKey"},
		{"key", `{"apiKey": "${KEY:-k}"}`, ""},
		{"local openai", `{"provider": "openai", "model": "m", ` + local + `}`, ""},
		{"local openai with an empty key", `{"provider": "openai", "model": "m", "apiKey": "", ` + local + `}`, ""},
		{"local custom", `{"provider": "custom", "model": "m", ` + local + `}`, ""},
		{"local custom with an empty key", `{"provider": "custom", "model": "m", "apiKey": "${KEY:-}", ` + local + `}`, ""},
		{"local by name", `{"provider": "custom", "model": "m", "baseUrl": "http://localhost:1234/v1"}`, ""},
		{"local by IPv6", `{"provider": "openai", "model": "m", "baseUrl": "http://[::1]:1234/v1"}`, ""},
		{"local, nothing else", `{` + local + `}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ship := `{"llm": ` + tt.llm + `, "adapters": {"telegram": {"enabled": true, "botToken": "${T}"}}}`
			_, err := Load(Options{Dir: project(t, ship, "T=1:a"), Strict: true})
			if tt.wrong == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok || len(invalid.Findings) != 1 || invalid.Findings[0].Key != tt.wrong {
				t.Errorf("Load = %v, want one fault of %s", err, tt.wrong)
			}
		})
	}
}

// TestOpenTelegramWarns: an open bot causes a warning, except on a local test server.
func TestOpenTelegramWarns(t *testing.T) {
	for _, tt := range []struct {
		name, telegram string
		want           bool
	}{
		{"open", `"access": "open"`, true},
		{"paired", `"access": "paired"`, false},
		{"open, other server", `"access": "open", "baseUrl": "https://tg.example"`, true},
		{"open, on this machine", `"access": "open", "baseUrl": "http://localhost:8081"`, false},
		{"open, on this machine without a port", `"access": "open", "baseUrl": "http://[::1]/bots"`, false},
		{"open, but off", `"access": "open", "enabled": false`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ship := `{"llm": {"apiKey": "${K:-k}"}, "adapters": {"telegram": {"botToken": "${T}", ` + tt.telegram + `}}}`
			loaded, err := Load(Options{Dir: project(t, ship, "T=1:a\nK=k\n")})
			stdtest.Must(t, err)
			got := slices.ContainsFunc(loaded.Findings, func(f Finding) bool { return f.Key == "adapters.telegram.access" })
			if got != tt.want || len(loaded.Findings) > 1 {
				t.Errorf("findings = %v, want a warning: %v", loaded.Findings, tt.want)
			}
		})
	}
}

func TestEgressMode(t *testing.T) {
	for _, tt := range []struct{ name, ship, telegram, web, cli, api string }{
		{"habit", `{}`, EgressTool, EgressDirect, EgressDirect, EgressDirect},
		{"auto", `{"context": {"chatEgress": {"mode": "auto"}}}`, EgressTool, EgressDirect, EgressDirect, EgressDirect},
		{"for all", `{"context": {"chatEgress": {"mode": "tool"}}}`, EgressTool, EgressTool, EgressTool, EgressTool},
		{"own wins", `{"context": {"chatEgress": {"mode": "direct"}}, "adapters": {"web": {"egress": "tool"}}}`, EgressDirect, EgressTool, EgressDirect, EgressDirect},
	} {
		t.Run(tt.name, func(t *testing.T) {
			loaded, err := Load(Options{Dir: project(t, tt.ship, "")})
			stdtest.Must(t, err)
			a := loaded.Settings.Adapters
			want := []string{tt.telegram, tt.web, tt.cli, tt.api}
			stdtest.Diff(t, "egress of telegram, web, cli, api", want, []string{a.Telegram.Egress, a.Web.Egress, a.CLI.Egress, a.API.Egress})
		})
	}
}

func TestOlderBlockYieldsToItsSuccessor(t *testing.T) {
	loaded, err := Load(Options{Dir: project(t, `{
		"integrations": {"web": {"listen": "127.0.0.1:1"}, "cli": {"enabled": false}},
		"adapters": {"web": {"listen": "127.0.0.1:2"}}
	}`, "")})
	stdtest.Must(t, err)
	if a := loaded.Settings.Adapters; a.Web.Listen != "127.0.0.1:2" || a.CLI.Enabled {
		t.Errorf("web listens on %s, cli %v; want 127.0.0.1:2, false", a.Web.Listen, a.CLI.Enabled)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"x": 0`)
	for i := range 3 * 200 {
		fmt.Fprintf(&b, ",\n\"x%d\": 0", i)
	}
	b.WriteString(`, "name": 1}`)
	_, err := Load(Options{Dir: project(t, b.String(), "")})
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok || len(invalid.Findings) != 200+1 {
		t.Fatalf("Load = %T with %d findings, want an InvalidError with %d", err, len(invalid.Findings), 200+1)
	}
	if want := "settings: 402 more findings are not shown"; err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
}

// TestSE2NoSecretLeaks loads a project full of secrets, once without faults and once with as many
// faults as possible, and searches all output for the secrets.
func TestSE2NoSecretLeaks(t *testing.T) {
	const ship = `{
		"llm": {"model": "m", "apiKey": "canary-1", "fallbacks": [{"model": "f", "baseUrl": "https://x.example", "apiKey": "${KEY}"}]},
		"adapters": {
			"telegram": {"botToken": "${NONE:-canary-3}"}, "api": {"token": "${file:secret}"}, "web": {"token": "canary-5-canary-5"},
			"feishu": {"appId": "a", "appSecret": "canary-6", "encryptKey": "canary-7", "verificationToken": "canary-8"}
		}%s
	}`
	for _, tt := range []struct {
		name, more string
		env        map[string]string
	}{
		{"good", ``, nil},
		{
			"bad", `, "timezone": "canary-10", "log": {"level": "canary-11"}, "skills": {"paths": "canary-12"}, "metrics": {"listen": "${KEY}"},
			"permissions": {"exec": {"approvers": ["canary-13"], "sandbox": "${KEY}"}}, "limits": {"residentMB": "canary-14"}`,
			map[string]string{"SMA_LLM_BASE_URL": "https://canary-15:canary-16@x.example", "SMA_ADAPTERS_WEB_LISTEN": "canary-17", "SMA_LLM_MAX_CONCURRENCY": "canary-18", "SMA_LLM_MODELS": `{"m": "canary-19"`},
		},
		{"broken", `, canary-20`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := project(t, fmt.Sprintf(ship, tt.more), "KEY=canary-2\nBAD canary-9\n")
			if tt.name == "good" {
				write(t, filepath.Join(dir, keys.EnvFile), "KEY=canary-2\n", 0o644)
			}
			write(t, filepath.Join(dir, "secret"), "canary-4-canary-4", 0o644)
			loaded, err := Load(Options{Dir: dir, Env: environment(tt.env), Flags: map[string]string{}})
			var out bytes.Buffer
			fmt.Fprintf(&out, "%v %+v %#v %v", loaded, loaded, loaded, err)
			slog.New(slog.NewJSONHandler(&out, nil)).Info("loaded", "loaded", loaded, "error", err)
			if invalid, ok := errors.AsType[*InvalidError](err); ok {
				fmt.Fprintf(&out, "%+v", invalid.Findings)
			} else {
				fmt.Fprintf(&out, "%+v", loaded.Settings)
				shown, err := loaded.Show(true)
				out.Write(shown)
				fmt.Fprint(&out, loaded.Findings, err)
			}
			if i := strings.Index(out.String(), "canary"); i >= 0 {
				t.Errorf("leaked: …%s", out.String()[max(i-200, 0):min(i+20, out.Len())])
			}
			if (err == nil) != (tt.name == "good") {
				t.Errorf("Load: %v", err)
			}
		})
	}
}

// TestShowLoadsAgain: the output of Show is a ship.json with the same meaning.
func TestShowLoadsAgain(t *testing.T) {
	first, err := Load(goldenOptions(t, "testdata/good/everything"))
	stdtest.Must(t, err)
	shown, err := first.Show(false)
	stdtest.Must(t, err)
	again, err := Load(Options{Dir: project(t, string(shown), ""), Strict: true})
	stdtest.Must(t, err)
	hide := cmp.Transformer("hide", func(s Secret) string { return s.String() })
	if diff := cmp.Diff(first.Settings, again.Settings, hide); diff != "" {
		t.Errorf("loaded again (-first +again):\n%s", diff)
	}
}

func TestLookupAndOrigin(t *testing.T) {
	loaded, err := Load(Options{
		Dir: project(t, `{"log": {"level": "warn"}}`, "A=file\nB=file\nSMA_NAME=n\n"),
		Env: environment(map[string]string{"A": "outside"}),
	})
	stdtest.Must(t, err)
	for name, want := range map[string]string{"A": "outside", "B": "file"} {
		if got, ok := loaded.Lookup(name); !ok || got != want {
			t.Errorf("Lookup(%s) = %q, %v, want %q", name, got, ok, want)
		}
	}
	if _, ok := loaded.Lookup("C"); ok {
		t.Error("Lookup found a variable that is not there")
	}
	for key, want := range map[string]string{"name": "SMA_NAME of .env", "log.level": "ship.json:1:19", "log.format": "default", "no.such[0].key": "default"} {
		if got := loaded.Origin(key).String(); got != want {
			t.Errorf("origin of %s = %q, want %q", key, got, want)
		}
	}
}

func TestEnvNames(t *testing.T) {
	for key, want := range map[string]string{
		"llm.model": "SMA_LLM_MODEL", "llm.apiKey": "SMA_LLM_API_KEY", "limits.residentMB": "SMA_LIMITS_RESIDENT_MB",
		"llm.idleTimeoutS": "SMA_LLM_IDLE_TIMEOUT_S", "context.chatEgress.chatSendMaxCallsPerRun": "SMA_CONTEXT_CHAT_EGRESS_CHAT_SEND_MAX_CALLS_PER_RUN",
	} {
		if got := EnvName(key); got != want {
			t.Errorf("EnvName(%s) = %s, want %s", key, got, want)
		}
	}
	seen := map[string]string{}
	for _, k := range keys.Table(&Settings{}).Fixed() {
		name := EnvName(k.Path)
		if other, ok := seen[name]; ok {
			t.Errorf("%s and %s share %s", other, k.Path, name)
		}
		seen[name] = k.Path
	}
}

// TestImportsAreLight: loading settings links nothing of others, such as a schema library.
func TestImportsAreLight(t *testing.T) {
	files, err := filepath.Glob("*.go")
	stdtest.Must(t, err)
	for _, below := range []string{"internal/*/*.go", "catalog/*.go"} {
		more, err := filepath.Glob(below)
		stdtest.Must(t, err)
		files = append(files, more...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		stdtest.Must(t, err)
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			stdtest.Must(t, err)
			if strings.Contains(path, ".") && !strings.HasPrefix(path, "github.com/shipmyagent/shipmyagent/config/") {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// FuzzLoad: whatever ship.json and .env contain, the result is valid settings or findings, and
// neither contains the secret from the environment.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.json", "testdata/warned/*.json", "testdata/bad/*.json"} {
		files, err := filepath.Glob(pattern)
		stdtest.Must(f, err)
		for _, file := range files {
			text := stdtest.Read(f, file)
			f.Add(text, []byte("A=b\nexport C=\"d\"\n"))
		}
	}
	dir := f.TempDir()
	const canary = "canary-7c1"
	f.Fuzz(func(t *testing.T, ship, dotEnv []byte) {
		if bytes.Contains(ship, []byte(canary)) || bytes.Contains(dotEnv, []byte(canary)) {
			t.Skip()
		}
		write(t, filepath.Join(dir, FileName), string(ship), 0o600)
		write(t, filepath.Join(dir, keys.EnvFile), string(dotEnv), 0o600)
		loaded, err := Load(Options{Dir: dir, Env: environment(map[string]string{"LLM_KEY": canary, "OPENAI_API_KEY": canary})})
		if err != nil {
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok || err.Error() == "" || strings.Contains(fmt.Sprint(invalid.Findings), canary) {
				t.Fatalf("Load: %T %v", err, err)
			}
			return
		}
		if faults := faults(t, loaded.Settings); len(faults) > 0 {
			t.Fatalf("loaded, but not valid: %v", faults)
		}
		shown, err := loaded.Show(true)
		if err != nil || !json.Valid(shown) || strings.Contains(fmt.Sprint(loaded.Findings), canary) {
			t.Fatalf("Show: %v, findings %v", err, loaded.Findings)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	text := stdtest.Read(b, "testdata/good/everything.json")
	dir := project(b, string(text), "LLM_KEY=k\nTG_TOKEN=1:a\nWEB_TOKEN=0123456789abcdef\nAPI_TOKEN=0123456789abcdef\nSPEECH_KEY=k\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(Options{Dir: dir}); err != nil {
			b.Fatal(err)
		}
	}
}
