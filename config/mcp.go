package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/config/internal/cmdline"
	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

const (
	// mcpFileName is the file of servers as findings name it.
	mcpFileName = "mcp.json"
	// maxMCPServers is how many servers a project may have.
	maxMCPServers = 64
	// defaultMCPTimeout bounds one call unless a server says otherwise.
	defaultMCPTimeout = 60
	maxMCPTimeout     = 3600
)

// MCP are the MCP servers of a project, as .ship/config/mcp.json defines them.
type MCP struct {
	// Servers are sorted by name. A server with faults is included, but off.
	Servers []MCPServer
	// Findings are the faults and warnings.
	Findings []Finding
	// Files are the absolute paths that were read, or would have been read if they existed.
	Files []string

	reaches []Reach
}

// MCPServer is one server: a program (Command) or an address (URL).
type MCPServer struct {
	Name string
	// Off says why the server is not used, or is empty if it is.
	Off string

	Command string
	Args    []string
	Env     map[string]Secret
	// Read and Write are files and folders that the program may read or change, and Dir is its working directory. All
	// are absolute. An empty Dir is the program's own home.
	Read, Write []string
	Dir         string
	Network     bool

	URL     Secret
	Headers map[string]Secret

	// Allow names tools that run without approval; * is every tool of the server.
	Allow   []string
	Timeout time.Duration // of one call

	// Shown is the command line or URL for people, with ${NAME} unexpanded.
	Shown string
	// Hidden are texts that are masked in everything that the server outputs: values from variables and files, and
	// values that are secret by their position.
	Hidden []Secret
	// Fetch are arguments with which Command, a package runner such as npx, only downloads what it would run with
	// Args. It is empty for other programs.
	Fetch []string

	packages []string // downloaded by Fetch
	spelled  []Secret // secrets that are literally in its settings
}

// mcpFields are the keys of one server.
type mcpFields struct {
	Type     string            `json:"type,omitempty"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]Secret `json:"env,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	Read     []string          `json:"read,omitempty"`
	Write    []string          `json:"write,omitempty"`
	Network  bool              `json:"network,omitempty"`
	URL      Secret            `json:"url,omitzero"`
	Headers  map[string]Secret `json:"headers,omitempty"`
	Allow    []string          `json:"allow,omitempty"`
	TimeoutS int               `json:"timeoutS,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
}

// MCP reads the servers from a file, which may be missing, with the variables of these settings. The file has one of
// two forms: {"servers": {name: …}}, or {"mcpServers": {name: …}} as in other programs. A file that is not JSON is an
// [*InvalidError]; a fault in one server only turns that server off.
func (l *Loaded) MCP(path string, strict bool) (*MCP, error) {
	o := l.loader.Options
	o.Strict = strict
	inner, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	inner.variables = l.loader.variables
	m := mcpLoader{decoder: decoder{loader: inner, origin: Origin{Source: FromFile, Name: mcpFileName}, expands: true}, servers: map[string]MCPServer{}}
	root, ok := inner.parse(path, m.origin)
	if root != nil {
		ok = m.read(root)
	}
	sortFindings(m.findings)
	if !ok {
		return nil, &InvalidError{Findings: m.findings}
	}
	out := &MCP{Findings: m.findings, Files: m.files, reaches: m.reaches}
	for _, name := range slices.Sorted(maps.Keys(m.servers)) {
		out.Servers = append(out.Servers, m.servers[name])
	}
	return out, nil
}

// mcpLoader collects the servers of one file.
type mcpLoader struct {
	decoder
	servers map[string]MCPServer
	reaches []Reach
}

// read reads all servers. It returns false if the file is unusable.
func (m *mcpLoader) read(root *jsonpos.Node) bool {
	if root.Kind != jsonpos.Object {
		m.report(Error, m.at(root.Place), "", fmt.Sprintf(`the file wants an object such as {"servers": {…}}, not %s`, root.Kind))
		return false
	}
	usable := true
	for _, member := range root.Members {
		switch {
		case member.Key == "$schema":
		case member.Key != "servers" && member.Key != "mcpServers":
			m.report(m.unknownSeverity(), m.at(member.Place), member.Key, fmt.Sprintf(`unknown key %q at the top; it has "servers" (or "mcpServers")`, shorten(member.Key)))
		case member.Value.Kind != jsonpos.Object:
			m.report(Error, m.at(member.Value.Place), member.Key, fmt.Sprintf("%s wants an object of servers by name, not %s", member.Key, member.Value.Kind))
			usable = false
		default:
			for _, s := range member.Value.Members {
				m.server(member.Key, s)
			}
		}
	}
	return usable
}

// server reads one server. Its faults are reported and turn it off.
func (m *mcpLoader) server(block string, member jsonpos.Member) {
	key, name := joinKey(block, member.Key), member.Key
	at := m.at(member.Place)
	_, twice := m.servers[name]
	switch {
	case !regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,31}$`).MatchString(name):
		m.report(Error, at, key, fmt.Sprintf("the server name %q wants 1 to 32 letters, digits, _ and -", shorten(name)))
		return
	case twice:
		m.report(Error, at, key, "the server is listed twice; the first one counts")
		return
	case len(m.servers) == maxMCPServers:
		m.report(Error, at, key, fmt.Sprintf("there are more than %d servers", maxMCPServers))
		return
	}
	before := len(m.findings)
	m.failed = false // for this server
	fields := mcpFields{TimeoutS: defaultMCPTimeout}
	m.value(keyValue{key: key, value: reflect.ValueOf(&fields).Elem()}, member.Value)
	if !fields.Disabled {
		m.reportMissing(key)
		m.check(key, at, fields)
	}
	s := m.made(key, name, fields, member.Value)
	if i := slices.IndexFunc(m.findings[min(before, len(m.findings)):], func(f Finding) bool { return f.Severity == Error }); i >= 0 {
		s.Off = m.findings[before+i].String()
	} else if m.failed {
		s.Off = "it has faults, which are not shown: mcp.json has more findings than that"
	}
	if fields.Disabled {
		s.Off = "disabled in mcp.json"
	}
	m.servers[name] = s
	if s.Off == "" {
		m.reaches = append(m.reaches, m.serverReaches(key, s)...)
	}
}

// reportMissing reports the missing variables and files that a server refers to.
func (m *mcpLoader) reportMissing(key string) {
	for _, k := range slices.Sorted(maps.Keys(m.missing)) {
		if k == key || strings.HasPrefix(k, key+".") {
			m.report(Error, m.missing[k].origin, k, k+": "+strings.Join(m.missing[k].what, ", and "))
		}
	}
}

func (m *mcpLoader) check(key string, at Origin, f mcpFields) {
	fault := func(sub, text string) {
		o, ok := m.origins[key+"."+sub]
		if !ok {
			o = at
		}
		m.report(Error, o, joinKey(key, sub), joinKey(key, sub)+" "+text)
	}
	_, hasURL := m.origins[key+".url"]
	_, hasCommand := m.origins[key+".command"]
	switch {
	case hasURL == hasCommand:
		m.report(Error, at, key, key+" wants one of command (a program) and url (an address)")
	case hasCommand && f.Command == "" && !m.isLacking(key+".command"):
		fault("command", "is empty")
	case hasCommand && !slices.Contains([]string{"", "stdio"}, f.Type), hasURL && !slices.Contains([]string{"", "http", "streamable-http", "streamableHttp"}, f.Type):
		fault("type", `wants "stdio" with a command, and "http" with a url; the older "sse" is not supported`)
	case hasURL && !m.isLacking(key+".url"):
		if u, err := url.Parse(f.URL.Reveal()); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			fault("url", "wants an address such as https://example.com/mcp")
		}
	}
	if f.TimeoutS < 1 || f.TimeoutS > maxMCPTimeout {
		fault("timeoutS", fmt.Sprintf("wants 1 to %d", maxMCPTimeout))
	}
	for name := range f.Env {
		if !isVariable(name) {
			fault("env", fmt.Sprintf("has %q, which is no name of a variable", shorten(name)))
		}
	}
	for name, value := range f.Headers {
		if !(&checker{}).isHeader(name, value.Reveal()) {
			fault("headers", fmt.Sprintf("has %q, which is no header that can be sent", shorten(name)))
		}
	}
	for _, p := range slices.Concat([]string{f.Cwd}, f.Read, f.Write) {
		if strings.ContainsRune(p, 0) {
			fault("read", "has a path with a NUL character")
		}
	}
	for name, paths := range map[string][]string{"read": f.Read, "write": f.Write} {
		if slices.Contains(paths, "") { // a variable without a value must not grant the project's folder
			fault(name, "has an empty path; name a file or folder, or \".\" for the project's folder")
		}
	}
	m.warnShown(key, f)
	m.warnFolders(key, f)
}

func (m *mcpLoader) isLacking(key string) bool {
	_, ok := m.missing[key]
	return ok
}

// warnShown warns about secrets that others can see.
func (m *mcpLoader) warnShown(key string, f mcpFields) {
	for i := range f.Args {
		arg := fmt.Sprintf("%s.args[%d]", key, i)
		if o, ok := m.origins[arg]; ok && len(o.Via) > 0 {
			m.report(Warn, o, arg, arg+" takes its text from a variable or file: if it is a secret, others on this machine see it in the list of processes; use env")
		}
	}
	const help = `write "${NAME}" and set the variable in the environment or in ` + envFileName
	words := secretWords()
	reported := map[string]bool{}
	for _, s := range m.literals {
		name := s.key[strings.LastIndexByte(s.key, '.')+1:]
		if strings.HasPrefix(s.key, key+".") && s.key != key+".url" && words.MatchString(name) {
			reported[s.key] = true
			m.report(Warn, s.origin, s.key, s.key+" is spelled out here; "+help)
		}
	}
	for _, s := range f.spelledOut(key) {
		o, ok := m.origins[s.key]
		if !ok || len(o.Via) > 0 || reported[s.key] {
			continue
		}
		reported[s.key] = true
		also := ""
		if strings.HasPrefix(s.key, key+".args[") {
			also = "; others on this machine see arguments in the list of processes, so pass it in env if the program takes it there"
		}
		m.report(Warn, o, s.key, s.key+" holds a secret that is spelled out here; "+help+also)
	}
}

// warnFolders warns about arguments that name a folder which the program may not read.
func (m *mcpLoader) warnFolders(key string, f mcpFields) {
	granted := slices.Concat(f.Read, f.Write)
	if f.Cwd != "" {
		granted = append(granted, f.Cwd)
	}
	isIn := func(path, folder string) bool {
		rel, err := filepath.Rel(folder, path)
		return err == nil && filepath.IsLocal(rel)
	}
	for i, arg := range f.Args {
		if !filepath.IsAbs(arg) && f.Cwd != "" || arg == "" || strings.HasPrefix(arg, "-") {
			continue
		}
		path := filepath.Clean(m.absolute(arg))
		system := slices.ContainsFunc([]string{"/usr", "/bin", "/lib", "/proc", "/dev"}, func(dir string) bool { return isIn(path, dir) })
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || system || path == "/tmp" {
			continue
		}
		if !slices.ContainsFunc(granted, func(folder string) bool { return isIn(path, m.absolute(folder)) }) {
			at := fmt.Sprintf("%s.args[%d]", key, i)
			m.report(Warn, m.origins[at], at, at+` names a folder that the server may not read; name it in "read" or "write" too`)
		}
	}
}

// made makes a server from its fields.
func (m *mcpLoader) made(key, name string, f mcpFields, node *jsonpos.Node) MCPServer {
	s := MCPServer{
		Name: name, Command: f.Command, Args: f.Args, Env: f.Env, Network: f.Network, URL: f.URL, Headers: f.Headers,
		Allow: f.Allow, Timeout: time.Duration(f.TimeoutS) * time.Second, Shown: shownServer(node),
	}
	s.Read, s.Write = m.folders(f.Read), m.folders(f.Write)
	if f.Cwd != "" {
		s.Dir = m.absolute(f.Cwd)
	}
	if strings.ContainsRune(s.Command, filepath.Separator) {
		s.Command = m.absolute(s.Command)
	}
	s.Hidden = m.hidden(key, f)
	for _, found := range f.spelledOut(key) {
		s.spelled = append(s.spelled, NewSecret(found.text))
	}
	s.Shown = s.withoutSpelled(s.Shown)
	if s.Command != "" {
		s.Fetch, s.packages = cmdline.Fetch(s.Command, s.Args)
	}
	return s
}

// folders resolves paths relative to the project's folder.
func (l *loader) folders(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, filepath.Clean(l.absolute(p)))
	}
	return out
}

// hidden are the texts of a server that must not be shown: values from variables and files, and values that are
// secret by their name.
func (m *mcpLoader) hidden(key string, f mcpFields) []Secret {
	seen := map[string]bool{}
	hide := func(text string) {
		if len(text) >= 6 { // shorter ones may occur by chance
			seen[text] = true
		}
		for part := range strings.FieldsSeq(text) { // skips words such as Bearer
			if len(part) >= 10 {
				seen[part] = true
			}
		}
	}
	for k, o := range m.origins {
		if !strings.HasPrefix(k, key+".") {
			continue
		}
		for _, via := range o.Via {
			if value, ok := m.lookup(strings.TrimSuffix(strings.TrimPrefix(via, "${"), "}")); ok {
				hide(value)
			}
		}
	}
	words := secretWords()
	for name, value := range f.Headers {
		if len(m.origins[key+".headers."+name].Via) > 0 || words.MatchString(name) {
			hide(value.Reveal())
		}
	}
	for name, value := range f.Env {
		if strings.Contains(strings.Join(m.origins[key+".env."+name].Via, ""), "${file:") || words.MatchString(name) {
			hide(value.Reveal())
		}
	}
	if len(m.origins[key+".url"].Via) > 0 {
		hide(f.URL.Reveal())
	}
	for _, found := range f.spelledOut(key) {
		seen[found.text] = true
	}
	var out []Secret
	for _, text := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, NewSecret(text))
	}
	return out
}

// secretWords matches the names of variables and headers that contain secrets.
func secretWords() *regexp.Regexp {
	return regexp.MustCompile(`(?i)auth|token|key|secret|password|cookie`)
}

// shownServer is a command line or URL as written, with ${NAME} unexpanded.
func shownServer(node *jsonpos.Node) string {
	var words []string
	for _, member := range node.Members {
		switch {
		case (member.Key == "command" || member.Key == "url") && member.Value.Kind == jsonpos.String:
			words = append([]string{member.Value.Text}, words...)
		case member.Key == "args":
			for _, item := range member.Value.Items {
				words = append(words, item.Text)
			}
		}
	}
	return printable(strings.Join(words, " "))
}

// spelledOut are the literal secrets in a server's arguments, URL, headers and variables, each with its key.
func (f *mcpFields) spelledOut(key string) []spelledSecret {
	var out []spelledSecret
	add := func(at string, texts ...string) {
		for _, text := range texts {
			if len(text) >= minLiteral {
				out = append(out, spelledSecret{at, text})
			}
		}
	}
	for i, secrets := range cmdline.ArgSecrets(f.Args) {
		add(fmt.Sprintf("%s.args[%d]", key, i), secrets...)
	}
	add(key+".url", cmdline.Secrets(f.URL.Reveal())...)
	for name, value := range f.Headers {
		add(key+".headers."+name, cmdline.Secrets(value.Reveal())...)
	}
	for name, value := range f.Env {
		add(key+".env."+name, cmdline.Secrets(value.Reveal())...)
	}
	return out
}

// minLiteral is the minimum length of a text that is treated as a secret, in bytes. Shorter ones may occur by chance.
const minLiteral = 6

// spelledSecret is a secret and its key.
type spelledSecret struct{ key, text string }

// withoutSpelled is a text without the literal secrets in the settings of the server. Longer secrets are replaced
// first, because one may be a prefix of another.
func (s *MCPServer) withoutSpelled(text string) string {
	secrets := slices.Clone(s.spelled)
	slices.SortStableFunc(secrets, func(a, b Secret) int { return cmp.Compare(len(b.Reveal()), len(a.Reveal())) })
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret.Reveal(), secret.String())
	}
	return text
}
