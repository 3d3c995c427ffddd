package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// The kinds of a Reach.
const (
	ReachAddress  = "address"  // of a service, but not the service's own one
	ReachVariable = "variable" // of the operator's environment
	ReachFile     = "file"     // outside of the folder
	ReachServer   = "server"   // of tools: a program or an address
	ReachProgram  = "program"  // that runs without an approval
)

// Reach is something that the settings of a folder use outside of it: an address that receives keys and chats, a
// variable or file that is read, or a program that is started. The operator agrees to all of them together, once. Not
// listed are values set by flags and the operator's own variables, the services' own addresses, and addresses on this
// machine.
type Reach struct {
	Kind string `json:"kind"`
	Key  string `json:"key"`
	Text string `json:"text"` // for people; it contains no values of the operator's variables

	bound   string // further content that the agreement covers
	written string // replaces Text in logs if not empty; without the values of the folder's .env
}

// String writes the reach as one line for logs.
func (r Reach) String() string {
	return fmt.Sprintf("%-8s  %s  %s", r.Kind, r.Key, cmp.Or(r.written, r.Text))
}

// UntrustedError says that settings reach outside of their folder without the operator's agreement. It lists these
// reaches.
type UntrustedError struct{ Reaches []Reach }

// Error implements error.
func (e *UntrustedError) Error() string {
	lines := []string{"its settings use these things outside of the folder, and you have not agreed to that yet:"}
	for _, r := range e.Reaches {
		lines = append(lines, "  "+r.String())
	}
	return strings.Join(lines, "\n")
}

// Reaches lists what a project uses outside of its folder, sorted. servers may be nil.
func (l *Loaded) Reaches(servers *MCP) []Reach {
	out := slices.Clone(l.reaches)
	if servers != nil {
		out = append(out, servers.reaches...)
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Text, b.Text), cmp.Compare(a.bound, b.bound)) < 0
	})
	return slices.Compact(out)
}

// Digest is a hash of a list of reaches, as 64 hexadecimal digits. It does not depend on the location of the folder
// or on the values of the operator's variables.
func Digest(reaches []Reach) string {
	rows := make([][4]string, len(reaches))
	for i, r := range reaches {
		rows[i] = [4]string{r.Kind, r.Key, r.Text, r.bound}
	}
	return hashOf(struct {
		Version int         `json:"version"`
		Reaches [][4]string `json:"reaches"`
	}{1, rows})
}

// hashOf is a hash of strings in a value that can be marshalled.
func hashOf(v any) string {
	text, _ := json.Marshal(v) // Marshalling strings cannot fail.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// isOwn reports whether a URL is https on one of the hosts, in exactly that spelling, with nothing but a path.
func isOwn(address string, hosts ...string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	for _, host := range hosts {
		rest, ok := strings.CutPrefix(address, "https://"+host)
		rest = strings.TrimPrefix(rest, ":443")
		if ok && (u.Host == host || u.Host == host+":443") && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// isLoopback reports whether a URL is on this machine, without resolving any name but localhost.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.Opaque == "" && IsLoopback(net.JoinHostPort(u.Hostname(), "0"))
}

// ownHosts are the hosts of the service whose address a key sets. A proxy or another address of the operator has none.
func (l *loader) ownHosts(key string) []string {
	for _, p := range l.settings.Adapters.platforms() {
		if key == p.key("baseUrl") {
			return p.hosts
		}
	}
	if strings.HasPrefix(key, "adapters.") {
		return nil
	}
	provider := ProviderOpenAI // also for speech
	blocks, models := l.settings.endpoints()
	for i, m := range models {
		if key == blocks[i]+".baseUrl" && m.Provider != ProviderCustom && m.Provider != ProviderDemo {
			provider = m.Provider
		}
	}
	return providerOf(provider).ownHosts()
}

// mayHave reports whether a well-known variable may be sent to an address automatically.
func (l *loader) mayHave(name, key, address string) bool {
	folder, text := l.fromFolder(key, address)
	return !folder || isOwn(text, wellKnownHosts(name)...) || isLoopback(text)
}

// fromFolder reports whether the folder sets the value of a key, in ship.json or its .env. It also returns the value
// with references to the operator's variables unexpanded. An address that follows from the provider counts as set by
// the folder.
func (l *loader) fromFolder(key, value string) (folder bool, text string) {
	o := l.Origins.Of(key)
	for o.Source == FromKey && strings.HasSuffix(o.Name, ".baseUrl") {
		key = o.Name
		o = l.Origins.Of(key)
	}
	if n, ok := l.Notes[key]; ok && o.Source == FromFile {
		value = n.Bound
	}
	return o.Source == FromFile || o.Source == FromKey || o.Source == FromEnv && slices.Contains(o.Via, keys.EnvFile), value
}

// reaches lists what the settings use outside of the folder.
func (l *loader) reaches() []Reach {
	var out []Reach
	for _, name := range []string{keys.EnvFile, FileName, "Agent.md"} {
		if to := keys.LeadsOut(l.Dir, name); to != "" {
			out = append(out, Reach{Kind: ReachFile, Key: name, Text: to})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.Notes)) {
		if o := l.Origins.Of(key); o.Source != FromFile {
			continue // a flag or a variable replaced it
		}
		out = append(out, slices.DeleteFunc(noteReaches(l.Notes[key], key), func(r Reach) bool {
			return r.Kind == ReachVariable && r.bound == "${"+r.Text+"}" && l.isUsedUnnamed(key, r.Text)
		})...)
	}
	return append(append(out, l.addressReaches()...), l.programReaches()...)
}

// noteReaches are the variables and files that a string names.
func noteReaches(n keys.Note, key string) []Reach {
	var out []Reach
	for _, name := range n.Named {
		out = append(out, Reach{Kind: ReachVariable, Key: key, Text: name, bound: n.Bound})
	}
	for _, path := range n.Outside {
		out = append(out, Reach{Kind: ReachFile, Key: key, Text: keys.Printable(path), bound: n.Bound})
	}
	return out
}

// isUsedUnnamed reports whether a variable that a key names would also be used automatically if the key were not set,
// so that naming it makes no difference.
func (l *loader) isUsedUnnamed(key, name string) bool {
	llm := l.settings.LLM
	known := providerOf(llm.Provider).Variables
	if llm.Provider == ProviderCustom {
		known = providerOf(ProviderOpenAI).Variables
	}
	if key == "llm.apiKey" && slices.Contains(known, name) {
		return l.mayHave(name, "llm.baseUrl", llm.BaseURL)
	}
	for _, p := range l.settings.Adapters.platforms() {
		if p.variable == name && key == p.key(p.credentials[0].name) {
			return l.mayHave(name, p.key("baseUrl"), p.address)
		}
	}
	return false
}

// addressReaches are the addresses that the folder sets instead of the services' own. An address that follows from
// another key is listed at that key.
func (l *loader) addressReaches() []Reach {
	var out []Reach
	for _, k := range l.Table.All() {
		if !k.Address || k.Value.String() == "" || l.Origins.Of(k.Path).Source == FromKey {
			continue
		}
		folder, text := l.fromFolder(k.Path, k.Value.String())
		if folder && !isLoopback(text) && !isOwn(text, l.ownHosts(k.Path)...) {
			out = append(out, Reach{Kind: ReachAddress, Key: k.Path, Text: keys.Printable(text)})
		}
	}
	return out
}

// programReaches are the programs for speech, which run without an approval.
func (l *loader) programReaches() []Reach {
	var out []Reach
	for _, a := range l.settings.Speech.apis() {
		key := a.block + ".command"
		if folder, _ := l.fromFolder(key, ""); !folder || len(a.command) == 0 {
			continue
		}
		text := strings.Join(l.boundList(key, a.command), " ")
		if read := l.boundList(a.block+".read", a.read); len(read) > 0 {
			text += " with " + strings.Join(read, " ")
		}
		out = append(out, Reach{Kind: ReachProgram, Key: key, Text: keys.Printable(text)})
	}
	return out
}

// boundList is a list with references to the operator's variables unexpanded.
func (l *loader) boundList(key string, list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		if x, ok := l.Notes[fmt.Sprintf("%s[%d]", key, i)]; ok {
			out[i] = x.Bound
		}
	}
	return out
}

// serverReaches are an MCP server and the variables and files that it refers to. The agreement covers everything that
// is written about the server, including the project's own values.
func (m *mcpLoader) serverReaches(key string, s MCPServer) []Reach {
	var out []Reach
	bound := map[string]string{"network": fmt.Sprint(s.Network)}
	for _, k := range slices.Sorted(maps.Keys(m.Notes)) {
		if sub, ok := strings.CutPrefix(k, key+"."); ok {
			bound[sub] = m.Notes[k].Bound
			out = append(out, noteReaches(m.Notes[k], mcpFileName+" "+k)...)
		}
	}
	return append(out, Reach{Kind: ReachServer, Key: mcpFileName + " " + key, Text: serverText(s, bound), bound: hashOf(bound), written: s.Shown})
}

// serverText describes a server: the command line, or the URL as written together with its host, because the URL
// itself may be secret.
func serverText(s MCPServer, bound map[string]string) string {
	words := []string{bound["command"]}
	for i := range s.Args {
		words = append(words, bound[fmt.Sprintf("args[%d]", i)])
	}
	if s.Command == "" {
		words = []string{s.Shown}
		if u, err := url.Parse(bound["url"]); err == nil && u.Host != "" && !strings.Contains(s.Shown, u.Host) {
			words = append(words, "at "+u.Host)
		}
	}
	if len(s.Env) > 0 {
		words = append(words, "with "+strings.Join(slices.Sorted(maps.Keys(s.Env)), " "))
	}
	if s.Network {
		words = append(words, "with the network")
	}
	for i := range s.Read {
		words = append(words, "reading "+bound[fmt.Sprintf("read[%d]", i)])
	}
	for i := range s.Write {
		words = append(words, "changing "+bound[fmt.Sprintf("write[%d]", i)])
	}
	if len(s.packages) > 0 {
		words = append(words, "after fetching over the network, into a folder of its own, "+strings.Join(s.packages, " ")+" and what that needs")
	}
	return keys.Printable(s.withoutSpelled(strings.Join(words, " ")))
}
