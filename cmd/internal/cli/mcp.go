package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/tool/mcp"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

func (a *app) mcpCmd() *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "mcp", Short: "List and test MCP servers, and approve changed tools",
		Long: "Servers are configured in .ship/config/mcp.json. The tools that a server lists at its first start are approved. Tools\n" +
			"that are added or changed later are off until you approve them here.",
		Example: "  sma mcp list\n  sma mcp test files\n  sma mcp approve files:write_file\n  sma mcp logs files",
	}, a.mcpListCmd(), a.mcpTestCmd(), a.mcpApproveCmd(), a.mcpLogsCmd())
}

func (a *app) mcpListCmd() *cobra.Command {
	whole, unused := false, ""
	return console.Command[[]mcp.ServerStatus]{
		Run: func(ctx context.Context, args []string) ([]mcp.ServerStatus, error) {
			whole = len(args) == 1
			p, err := a.mcpProject(strings.Join(args, ""))
			if err != nil {
				return nil, err
			}
			list, err := p.list(ctx)
			if unused = p.unused(list, strings.Join(args, "")); err == nil && unused != "" {
				a.Say(a.Text("the running host does not use %s; after sma trust, sma mcp test %s starts it", "正在运行的服务没有使用 %s；sma trust 同意之后，用 sma mcp test %s 启动"), unused, unused)
			}
			if err != nil || !whole || unused != "" {
				return list, err
			}
			s, err := p.find(list, args[0])
			return []mcp.ServerStatus{s}, err
		},
		List: "servers",
		Text: func(list []mcp.ServerStatus) string {
			if len(list) == 0 && unused != "" {
				return ""
			}
			return a.mcpText(list, whole)
		},
	}.On(a.Console, &cobra.Command{
		Use: "list [SERVER]", Short: "List the servers with their tools", Args: cobra.MaximumNArgs(1),
		Example: "  sma mcp list\n  sma mcp list files --json",
	})
}

func (a *app) mcpTestCmd() *cobra.Command {
	return console.Command[mcp.ServerStatus]{
		Run: func(ctx context.Context, args []string) (mcp.ServerStatus, error) {
			p, err := a.mcpProject(args[0])
			if err != nil {
				return mcp.ServerStatus{}, err
			}
			ctx, cancel := context.WithTimeout(ctx, control.Within("/control/mcp"))
			defer cancel()
			return p.test(ctx, args[0])
		},
		Text: func(s mcp.ServerStatus) string { return a.mcpText([]mcp.ServerStatus{s}, true) },
		Verdict: func(s mcp.ServerStatus) error {
			if s.Condition == mcp.ConditionUp {
				return nil
			}
			return &console.Failure{Code: console.CodeUnreachable, What: "the server " + s.Name + " is " + string(s.Condition), Help: "sma mcp logs " + s.Name}
		},
	}.On(a.Console, &cobra.Command{
		Use: "test SERVER", Short: "Start a server, or start it again, and list its tools", Args: cobra.ExactArgs(1),
		Long: "Starts a server now and lists its tools, also a server that is off because it failed too often. If no host is running,\n" +
			"the server is stopped again.",
		Example: "  sma mcp test files",
	})
}

func (a *app) mcpApproveCmd() *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "approve SERVER[:TOOL]", Short: "Approve a changed tool as its server lists it now, or all tools of a server", Args: cobra.ExactArgs(1),
		Long:    "Approves a tool and turns it on. Review it first with: sma mcp list SERVER",
		Example: "  sma mcp approve files:write_file\n  sma mcp approve files",
	}, func(ctx context.Context, args []string) (string, error) {
		server, name, one := strings.Cut(args[0], ":")
		p, err := a.mcpProject(server)
		if err != nil {
			return "", err
		}
		list, err := p.list(ctx)
		if err != nil {
			return "", err
		}
		s, err := p.find(list, server)
		if err != nil {
			return "", err
		}
		return a.approveTools(ctx, p, s, name, one)
	})
}

// approveTools approves the named tool, or all tools of a server that wait for approval.
func (a *app) approveTools(ctx context.Context, p mcpProject, s mcp.ServerStatus, name string, one bool) (string, error) {
	done := 0
	for _, t := range s.Tools {
		wanted := one && t.Name == name || !one && waits(t)
		if !wanted {
			continue
		}
		if err := p.approve(ctx, s.Name, t); err != nil {
			return "", &console.Failure{Code: console.CodeFailed, What: "the tool is not approved", Why: err, Help: "sma mcp list " + s.Name}
		}
		done++
		if err := a.Print(fmt.Sprintf(a.Text("approved %s:%s %s\n    %s\n", "已批准 %s:%s %s\n    %s\n"), s.Name, t.Name, shortHash(t.Hash), checkup.OneLine(t.Description, 300))); err != nil {
			return "", err
		}
	}
	switch {
	case done == 0 && one:
		return "", &console.Failure{Code: console.CodeFailed, What: fmt.Sprintf("the server %s lists no tool %s", s.Name, name), Help: "sma mcp list " + s.Name}
	case done == 0:
		return a.Text("nothing waits for an approval\n", "没有需要批准的工具\n"), nil
	default:
		return "", nil
	}
}

func (a *app) mcpLogsCmd() *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "logs SERVER", Short: "Show what a server wrote to its log, apart from the protocol", Args: cobra.ExactArgs(1),
		Example: "  sma mcp logs files",
	}, func(_ context.Context, args []string) (string, error) {
		p, err := a.mcpProject(args[0])
		if err != nil {
			return "", err
		}
		if _, err := p.find(mcp.Look(p.servers, p.store, nil), args[0]); err != nil {
			return "", err
		}
		text, err := mcp.ReadLog(host.MCPLogs(p.state), args[0])
		return text, console.Failure{Code: console.CodeFailed, What: "the log cannot be read"}.Because(err)
	})
}

type mcpProject struct {
	dir, state string
	loaded     *config.Loaded
	servers    []mcp.Server
	store      *mcp.Store
	control    console.Control
	trusted    func() error // returns nil if the folder may start servers
}

// mcpProject reads the servers of a project and prints warnings about them, or only those about the named server.
func (a *app) mcpProject(server string) (mcpProject, error) {
	dir, state, err := a.Folders(nil)
	if err != nil {
		return mcpProject{}, err
	}
	p := mcpProject{dir: dir, state: state, control: console.NewControl(state)}
	if p.loaded, err = a.Load(dir, false); err != nil {
		return p, err
	}
	p.trusted = func() error { return a.mustTrust(dir, state, p.loaded) }
	found, err := loadServers(state, p.loaded, false)
	if err != nil {
		return p, &console.Failure{Code: console.CodeConfig, What: "the MCP servers cannot be read", Why: err, Help: "repair " + host.MCPFile(state)}
	}
	a.Warn(slices.DeleteFunc(found.Findings, func(f config.Finding) bool { return server != "" && !isAboutServer(f, server) }))
	p.servers = host.MCPServers(found)
	p.store, err = host.MCPStore(state)
	return p, console.Failure{Code: console.CodeConfig, What: "what was approved cannot be read"}.Because(err)
}

// isAboutServer reports whether a finding is about a server, or about no particular one.
func isAboutServer(f config.Finding, server string) bool {
	block, rest, _ := strings.Cut(f.Key, ".")
	if block != "servers" && block != "mcpServers" {
		return true
	}
	after, ok := strings.CutPrefix(rest, server)
	return ok && (after == "" || after[0] == '.' || after[0] == '[')
}

func loadServers(state string, loaded *config.Loaded, strict bool) (*config.MCP, error) {
	return loaded.MCP(host.MCPFile(state), strict)
}

// serverFindings are the findings of [loadServers], also for an unusable file.
func serverFindings(found *config.MCP, err error) ([]config.Finding, error) {
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		return invalid.Findings, nil
	}
	if err != nil {
		return nil, err
	}
	return found.Findings, nil
}

// checkServers checks the configuration of MCP servers without starting them.
func checkServers(state string, loaded *config.Loaded) []checkup.Finding {
	found, err := loadServers(state, loaded, true)
	findings, err := serverFindings(found, err)
	if err != nil {
		return []checkup.Finding{checkup.New("mcp", checkup.Fail, checkup.ErrText(err), "")}
	}
	out := marked("mcp", findings)
	if _, err := host.MCPStore(state); err != nil {
		out = append(out, checkup.New("mcp", checkup.Fail, err.Error(), ""))
	}
	if found == nil {
		return out
	}
	for _, s := range host.MCPServers(found) {
		if s.Off != "" || s.Command == "" {
			continue
		}
		if _, _, err := s.Program(os.Getenv("PATH")); err != nil {
			out = append(out, checkup.New("mcp", checkup.Warn, "the server "+s.Name+" cannot be started: "+err.Error(), ""))
		}
	}
	if len(out) == 0 && len(found.Servers) > 0 {
		out = append(out, checkup.New("mcp", checkup.OK, fmt.Sprintf("MCP servers: %d", len(found.Servers)), "sma mcp list"))
	}
	return out
}

// list asks the running host, or reads what is stored on disk.
func (p mcpProject) list(ctx context.Context) ([]mcp.ServerStatus, error) {
	var out []mcp.ServerStatus
	err := p.control.Get(ctx, "/control/mcp", &out)
	if errors.Is(err, console.ErrNotRunning) {
		return mcp.Look(p.servers, p.store, nil), nil
	}
	return out, console.NoAnswer(err)
}

// unused is a server that the list of the running host lacks, or empty. With a name only that one counts.
func (p mcpProject) unused(list []mcp.ServerStatus, name string) string {
	for _, s := range p.servers {
		if (name == "" || s.Name == name) && !slices.ContainsFunc(list, func(of mcp.ServerStatus) bool { return of.Name == s.Name }) {
			return s.Name
		}
	}
	return ""
}

func (p mcpProject) find(list []mcp.ServerStatus, name string) (mcp.ServerStatus, error) {
	for _, s := range list {
		if s.Name == name {
			return s, nil
		}
	}
	return mcp.ServerStatus{}, &console.Failure{Code: console.CodeFailed, What: fmt.Sprintf("there is no server %q in %s", name, host.MCPFile(p.state)), Help: "sma mcp list"}
}

// order sends an order about a server to the host.
func (p mcpProject) order(ctx context.Context, o host.MCPOrder) (out mcp.ServerStatus, err error) {
	err = p.control.Post(ctx, "/control/mcp", o, &out)
	return out, err
}

// test has the host test a server, or tests it here if no host is running.
func (p mcpProject) test(ctx context.Context, name string) (mcp.ServerStatus, error) {
	s, err := p.find(mcp.Look(p.servers, p.store, nil), name)
	if err != nil {
		return s, err
	}
	s, err = p.order(ctx, host.MCPOrder{Server: name})
	if errors.Is(err, console.ErrNotRunning) || errors.Is(err, console.ErrNoChat) { // a host does not know servers that it may not start
		if err := p.trusted(); err != nil {
			return s, err
		}
	}
	if errors.Is(err, console.ErrNotRunning) {
		s, err = p.alone(ctx, name)
	}
	return s, console.Failure{Code: console.CodeUnreachable, What: "the server could not be tested", Help: "sma mcp logs " + name}.Because(err)
}

// alone runs one server for its test.
func (p mcpProject) alone(ctx context.Context, name string) (s mcp.ServerStatus, err error) {
	o := host.Options{Dir: p.dir, State: p.state, Settings: p.loaded, Logger: slog.New(slog.DiscardHandler), Version: buildVersion().Version}
	m := mcp.New(host.MCPAlone(o, p.store))
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, m.Stop(stop))
	}()
	for _, server := range p.servers {
		if server.Name == name {
			if err := m.Apply(ctx, []mcp.Server{server}); err != nil {
				return s, err
			}
		}
	}
	return m.Test(ctx, name)
}

// approve has the host approve a tool as it was shown, or approves it here if no host is running.
func (p mcpProject) approve(ctx context.Context, server string, t mcp.ToolStatus) error {
	_, err := p.order(ctx, host.MCPOrder{Server: server, Tool: t.Name, Hash: t.Hash})
	if errors.Is(err, console.ErrNotRunning) {
		return p.store.Approve(server, t.Name, t.Hash)
	}
	return err
}

// waits reports whether a tool waits for approval.
func waits(t mcp.ToolStatus) bool {
	return t.State == mcp.StateNew || t.State == mcp.StateChanged || t.State == mcp.StateShadows
}

// mcpText lists servers with their tools; whole adds the descriptions that models read.
func (a *app) mcpText(list []mcp.ServerStatus, whole bool) string {
	if len(list) == 0 {
		return a.Text("no MCP servers; configure them in .ship/config/mcp.json\n", "没有 MCP 服务器；在 .ship/config/mcp.json 中配置\n")
	}
	var out strings.Builder
	waiting := ""
	for _, s := range list {
		fmt.Fprintf(&out, "%s  %s  %s\n", s.Name, a.Words(string(s.Condition)), checkup.OneLine(s.Shown, 100))
		if s.Reason != "" {
			fmt.Fprintf(&out, "    %s\n", a.Words(checkup.OneLine(s.Reason, 900)))
		}
		if s.Help != "" {
			fmt.Fprintf(&out, "    %s\n", a.Words(checkup.OneLine(s.Help, 600)))
		}
		for _, t := range s.Tools {
			word := string(t.State)
			if t.State == mcp.StateOn && t.Asks {
				word += ", asks"
			}
			fmt.Fprintf(&out, "  %-32s %s %s\n", t.Name, console.Column(a.Words(word), 12), shortHash(t.Hash))
			if t.Reason != "" {
				fmt.Fprintf(&out, "      %s\n", a.Words(t.Reason))
			}
			if whole {
				fmt.Fprintf(&out, "      %s\n", checkup.OneLine(t.Description, 400))
			}
			if waits(t) {
				waiting = s.Name + ":" + t.Name
			}
		}
	}
	if waiting != "" {
		fmt.Fprintf(&out, a.Text("turn one on: sma mcp approve %s\n", "启用：sma mcp approve %s\n"), waiting)
	}
	return out.String()
}

// shortHash is a prefix of a hash that is long enough for people to compare.
func shortHash(hash string) string { return hash[:min(len(hash), 12)] }
