package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/cmdline"
	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

const (
	// mcpFileName is the file of servers as findings name it.
	mcpFileName = "mcp.json"
	// maxMCPServers is how many servers a project may have.
	maxMCPServers = 64
)

// MCP are the MCP servers of a project, as .ship/config/mcp.json defines them.
type MCP struct {
	// Servers are sorted by name. A server with faults is included, but off.
	Servers []MCPServer
	// Findings are the faults and warnings.
	Findings []Finding

	reaches []Reach
}

// MCPServer is one server: a program (Command) or an address (URL). The fields with tags are the keys of a server.
type MCPServer struct {
	Name string
	// Off says why the server is not used, or is empty if it is.
	Off string

	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]Secret `json:"env,omitempty" rule:"variable"`
	// Read and Write are files and folders that the program may read or change, and Dir is its working directory. All
	// are absolute. An empty Dir is the program's own home.
	Dir     string   `json:"cwd,omitempty"`
	Read    []string `json:"read,omitempty" rule:"path"`
	Write   []string `json:"write,omitempty" rule:"path"`
	Network bool     `json:"network,omitempty"`

	URL     Secret            `json:"url,omitzero" rule:"serverUrl"`
	Headers map[string]Secret `json:"headers,omitempty" rule:"header"`

	// Allow names tools that run without approval; * is every tool of the server.
	Allow    []string `json:"allow,omitempty"`
	TimeoutS int      `json:"timeoutS,omitempty" default:"60" min:"1" max:"3600"` // of one call
	Disabled bool     `json:"disabled,omitempty"`

	// Shown is the command line or URL for people, with ${NAME} unexpanded.
	Shown string
	// Hidden are texts that are masked in everything that the server outputs: values from variables and files, and
	// values that are secret by their position.
	Hidden []Secret
	// Fetch are arguments with which Command, a package runner such as npx, only downloads what it would run with
	// Args. It is empty for other programs.
	Fetch []string

	packages []string        // downloaded by Fetch
	spelled  []spelledSecret // literally in its settings
}

// mcpFile is the table of keys of mcp.json. The second name of the servers is that of other programs.
type mcpFile struct {
	Schema     string               `json:"$schema,omitempty"`
	Servers    map[string]MCPServer `json:"servers,omitempty"`
	MCPServers map[string]MCPServer `json:"mcpServers,omitempty"`
}

// MCP reads the servers from a file, which may be missing, with the variables of these settings. The file has one of
// two forms: {"servers": {name: …}}, or {"mcpServers": {name: …}} as in other programs. A file that is not JSON is an
// [*InvalidError]; a fault in one server only turns that server off.
func (l *Loaded) MCP(path string, strict bool) (*MCP, error) {
	var file mcpFile
	o := l.loader.options
	o.Strict = strict
	r, err := keys.NewReader(o.spec(mcpFileName, ""), keys.Table(&file))
	if err != nil {
		return nil, err
	}
	r.Variables = l.loader.Variables
	m := mcpLoader{Reader: r, servers: map[string]MCPServer{}}
	usable := r.ReadFile(path)
	for _, key := range []string{"", "servers", "mcpServers"} {
		_, wrong := r.Errors[key]
		usable = usable && !wrong
	}
	if usable {
		m.add("servers", file.Servers)
		m.add("mcpServers", file.MCPServers)
	}
	if err := r.Finish(); err != nil && !usable {
		return nil, err
	}
	out := &MCP{Findings: r.Findings, reaches: m.reaches}
	for _, name := range slices.Sorted(maps.Keys(m.servers)) {
		out.Servers = append(out.Servers, m.servers[name])
	}
	return out, nil
}

// mcpLoader collects the servers of one file.
type mcpLoader struct {
	*keys.Reader
	servers map[string]MCPServer
	reaches []Reach
}

// add adds the servers of a block. Their faults are reported and turn them off.
func (m *mcpLoader) add(block string, all map[string]MCPServer) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		key, why := keys.Join(block, name), m.Rules["server"](name, "")
		if _, twice := m.servers[name]; twice {
			why = `is listed twice; the one in "servers" counts`
		} else if len(m.servers) == maxMCPServers {
			why = fmt.Sprintf("is one too many; a project has at most %d servers", maxMCPServers)
		}
		if why != "" {
			m.Fault(key, why)
			continue
		}
		s := all[name]
		s.Name = name
		m.complete(key, &s)
		m.servers[name] = s
		if s.Off == "" {
			m.reaches = append(m.reaches, m.serverReaches(key, s)...)
		}
	}
}

// complete checks a server and adds what follows from its keys.
func (m *mcpLoader) complete(key string, s *MCPServer) {
	s.spelled = s.spelledOut(key)
	s.Hidden = m.hidden(key, s)
	s.Shown = s.withoutSpelled(m.shown(key, s))
	if s.Disabled {
		s.Off = "disabled in mcp.json"
	} else {
		m.validate(key, s)
	}
	for _, at := range slices.Sorted(maps.Keys(m.Errors)) {
		if at == key || strings.HasPrefix(at, key+".") {
			s.Off = cmp.Or(s.Off, m.Errors[at])
		}
	}
	for _, list := range [][]string{s.Read, s.Write} {
		for i := range list {
			list[i] = filepath.Clean(m.Absolute(list[i]))
		}
	}
	if s.Dir != "" {
		s.Dir = m.Absolute(s.Dir)
	}
	if strings.ContainsRune(s.Command, filepath.Separator) {
		s.Command = m.Absolute(s.Command)
	}
	if s.Command != "" {
		s.Fetch, s.packages = cmdline.Fetch(s.Command, s.Args)
	}
}

func (m *mcpLoader) validate(key string, s *MCPServer) {
	m.ReportMissing(func(k string) bool { return strings.HasPrefix(k, key+".") })
	m.Check(keys.Key{Path: key, Value: reflect.ValueOf(s).Elem()})
	_, hasURL := m.Origins[key+".url"]
	_, hasCommand := m.Origins[key+".command"]
	types := []string{"", "stdio"}
	if hasURL {
		types = []string{"", "http", "streamable-http", "streamableHttp"}
	}
	m.FaultIf(hasCommand && s.Command == "", key+".command", "is empty")
	m.FaultIf(hasURL && s.URL.IsZero(), key+".url", "is empty")
	m.FaultIf(hasURL != hasCommand && !slices.Contains(types, s.Type), key+".type", `wants "stdio" with a command, and "http" with a url; the older "sse" is not supported`)
	m.FaultIf(hasURL == hasCommand, key, "wants one of command (a program) and url (an address)")
	m.warnShown(key, s)
	m.warnFolders(key, s)
}

// warnShown warns about secrets that others can see.
func (m *mcpLoader) warnShown(key string, s *MCPServer) {
	for i := range s.Args {
		if at := fmt.Sprintf("%s.args[%d]", key, i); len(m.Notes[at].Via) > 0 {
			m.Warn(at, "takes its text from a variable or file: if it is a secret, others on this machine see it in the list of processes; use env")
		}
	}
	m.WarnSecrets(key + ".")
	reported := map[string]bool{}
	for _, found := range s.spelled {
		if n := m.Notes[found.key]; len(n.Via) > 0 || reported[found.key] || n.Secret && n.Proposed(found.key) != "" {
			continue
		}
		reported[found.key] = true
		also := ""
		if strings.HasPrefix(found.key, key+".args[") {
			also = "; others on this machine see arguments in the list of processes, so pass it in env if the program takes it there"
		}
		m.Warn(found.key, `holds a secret that is spelled out here; write "${NAME}" and set the variable in the environment or in `+keys.EnvFile+also)
	}
}

// warnFolders warns about arguments that name a folder which the program may not read.
func (m *mcpLoader) warnFolders(key string, s *MCPServer) {
	granted := slices.Concat(s.Read, s.Write)
	if s.Dir != "" {
		granted = append(granted, s.Dir)
	}
	isIn := func(path string, folders ...string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool {
			rel, err := filepath.Rel(m.Absolute(folder), path)
			return err == nil && filepath.IsLocal(rel)
		})
	}
	for i, arg := range s.Args {
		if !filepath.IsAbs(arg) && s.Dir != "" || arg == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		path := filepath.Clean(m.Absolute(arg))
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || path == "/tmp" || isIn(path, "/usr", "/bin", "/lib", "/proc", "/dev") || isIn(path, granted...) {
			continue
		}
		m.Warn(fmt.Sprintf("%s.args[%d]", key, i), `names a folder that the server may not read; name it in "read" or "write" too`)
	}
}

// hidden are the texts of a server that must not be shown: values from variables and files, and values that are
// secret by their name.
func (m *mcpLoader) hidden(key string, s *MCPServer) []Secret {
	seen := map[string]bool{}
	hide := func(text string) {
		if len(text) >= minLiteral {
			seen[text] = true
		}
		for part := range strings.FieldsSeq(text) { // skips words such as Bearer
			if len(part) >= 10 {
				seen[part] = true
			}
		}
	}
	words := keys.SecretWords()
	for k, n := range m.Notes {
		field, ok := strings.CutPrefix(k, key+".")
		if !ok {
			continue
		}
		fromFile := false
		for _, via := range n.Via {
			fromFile = fromFile || strings.HasPrefix(via, "${file:")
			if value, ok := m.Lookup(strings.TrimSuffix(strings.TrimPrefix(via, "${"), "}")); ok {
				hide(value)
			}
		}
		isEnv := strings.HasPrefix(field, "env.")
		if n.Secret && m.Missing(k) == "" && (words.MatchString(field[strings.LastIndexByte(field, '.')+1:]) || fromFile || !isEnv && len(n.Via) > 0) {
			hide(n.Text)
		}
	}
	for _, found := range s.spelled {
		seen[found.text.Reveal()] = true
	}
	var out []Secret
	for _, text := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, NewSecret(text))
	}
	return out
}

// shown is a command line or URL as written, with ${NAME} unexpanded.
func (m *mcpLoader) shown(key string, s *MCPServer) string {
	all := []string{key + ".command", key + ".url"}
	for i := range s.Args {
		all = append(all, fmt.Sprintf("%s.args[%d]", key, i))
	}
	var words []string
	for _, k := range all {
		if n, ok := m.Notes[k]; ok {
			words = append(words, n.Written)
		}
	}
	return keys.Printable(strings.Join(words, " "))
}

type spelledSecret struct {
	key  string
	text Secret
}

// minLiteral is the minimum length of a text that is treated as a secret, in bytes. Shorter ones may occur by chance.
const minLiteral = 6

// spelledOut are the literal secrets in a server's arguments, URL, headers and variables. Longer ones are first,
// because one may be a prefix of another.
func (s *MCPServer) spelledOut(key string) []spelledSecret {
	var out []spelledSecret
	add := func(at string, texts ...string) {
		for _, text := range texts {
			if len(text) >= minLiteral {
				out = append(out, spelledSecret{key + at, NewSecret(text)})
			}
		}
	}
	for i, secrets := range cmdline.ArgSecrets(s.Args) {
		add(fmt.Sprintf(".args[%d]", i), secrets...)
	}
	add(".url", cmdline.Secrets(s.URL.Reveal())...)
	for name, value := range s.Headers {
		add(".headers."+name, cmdline.Secrets(value.Reveal())...)
	}
	for name, value := range s.Env {
		add(".env."+name, cmdline.Secrets(value.Reveal())...)
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].text.Reveal()) > len(out[j].text.Reveal()) })
	return out
}

// withoutSpelled is a text without the literal secrets in the settings of the server.
func (s *MCPServer) withoutSpelled(text string) string {
	for _, found := range s.spelled {
		text = strings.ReplaceAll(text, found.text.Reveal(), keys.Stars)
	}
	return text
}
