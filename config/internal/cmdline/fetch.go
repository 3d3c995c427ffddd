// Package cmdline reads the command lines and addresses of MCP servers: which packages a runner would download for one,
// and which secrets are spelled out in it. It is pure: it starts nothing and reads no files.
package cmdline

import (
	"path/filepath"
	"slices"
	"strings"
)

// Fetch returns the arguments with which a package runner only downloads what it would run for a server's
// arguments, and the packages as written. Both are nil for other programs, for packages in local files, and for a
// runner with options that forbid downloads.
func Fetch(command string, args []string) (fetch, packages []string) {
	switch filepath.Base(command) {
	case "npx":
		return fetchingNpx(args)
	case "uvx":
		return fetchingUvx(nil, args)
	case "uv":
		if len(args) > 2 && args[0] == "tool" && args[1] == "run" {
			return fetchingUvx(args[:2], args[2:])
		}
	}
	return nil, nil
}

// runnerWords are the arguments of a package runner up to the program that it runs.
type runnerWords struct {
	options []string            // unchanged, except for those that were taken
	taken   map[string][]string // the values of the wanted options, by their canonical name
	program string
}

// splitRunner parses a package runner's arguments. valued are the options that are followed by a value. wanted maps
// the options to take out to their canonical names.
func splitRunner(args, valued []string, wanted map[string]string) runnerWords {
	w := runnerWords{taken: map[string][]string{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, joined := strings.Cut(arg, "=")
		as, take := wanted[name]
		switch {
		case arg == "--" && i+1 < len(args):
			w.program = args[i+1]
			return w
		case !strings.HasPrefix(arg, "-"):
			w.program = arg
			return w
		case !take && !joined && slices.Contains(valued, name) && i+1 < len(args):
			w.options = append(w.options, arg, args[i+1])
			i++
		case !take:
			w.options = append(w.options, arg)
		case !joined && slices.Contains(valued, name) && i+1 < len(args):
			w.taken[as] = append(w.taken[as], args[i+1])
			i++
		default:
			w.taken[as] = append(w.taken[as], value)
		}
	}
	return w
}

func fetchingNpx(args []string) (fetch, packages []string) {
	w := splitRunner(args, []string{
		"-p", "--package", "-c", "--call", "--cache", "--registry", "--userconfig", "--globalconfig", "--loglevel", "--script-shell", "--node-options", "-w", "--workspace", "--prefix",
	}, map[string]string{
		"-p": "package", "--package": "package", "-c": "call", "--call": "call", "-y": "yes", "--yes": "yes", "--no": "none", "--no-install": "none", "--offline": "none",
	})
	packages = w.taken["package"]
	if len(packages) == 0 && w.program != "" {
		packages = []string{w.program}
	}
	if len(packages) == 0 || w.taken["none"] != nil || slices.ContainsFunc(packages, isLocalPackage) {
		return nil, nil
	}
	fetch = append(w.options, "--yes")
	for _, p := range packages {
		fetch = append(fetch, "--package="+p)
	}
	return append(fetch, "--call=true"), packages
}

func fetchingUvx(before, args []string) (fetch, packages []string) {
	w := splitRunner(args, []string{
		"--from", "--with", "-w", "--with-editable", "--with-requirements", "-p", "--python", "--index", "--default-index", "-i", "--index-url", "--extra-index-url", "-f", "--find-links",
		"-c", "--constraints", "--constraint", "-b", "--build-constraints", "--overrides", "--override", "--env-file", "--directory", "--project", "--config-file", "--cache-dir", "--color",
		"--index-strategy", "--keyring-provider", "--link-mode", "--exclude-newer", "-C", "--config-setting", "-P", "--upgrade-package", "--refresh-package", "--reinstall-package",
		"--prerelease", "--resolution", "--fork-strategy", "--allow-insecure-host", "--no-build-isolation-package", "--no-build-package", "--no-binary-package", "--python-platform", "--torch-backend",
	}, map[string]string{"--from": "from", "--offline": "none"})
	from := w.program
	if wanted := w.taken["from"]; len(wanted) > 0 {
		from = wanted[0]
	} else if name, version, ok := strings.Cut(from, "@"); ok && name != "" && !strings.Contains(version, "/") {
		from = name
		if version != "latest" {
			from += "==" + version
		}
	}
	if from == "" || w.taken["none"] != nil || isLocalPackage(from) {
		return nil, nil
	}
	fetch = append(slices.Clone(before), w.options...)
	return append(fetch, "--from", from, "python", "-c", ""), []string{from}
}

// isLocalPackage reports whether a package is a local file or folder.
func isLocalPackage(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "file:")
}
