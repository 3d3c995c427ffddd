package archtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestLicences: every module that is linked into a binary has a licence that
// asks for no more than its notice.
func TestLicences(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range goList(t, "-deps", "-json=ImportPath,Module", "./...") {
		if p.Module == nil || p.Module.Path == modulePath || seen[p.Module.Path] {
			continue
		}
		seen[p.Module.Path] = true
		if kind := licenceOf(t, p.Module.Dir); kind == "" {
			t.Errorf("%s %s (in %s) has no licence that is known to be permissive", p.Module.Path, p.Module.Version, p.Module.Dir)
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d modules were looked at", len(seen))
	}
}

// licenceOf names the permissive licence found in a module's folder.
func licenceOf(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	stdtest.Must(t, err)
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		text := stdtest.Read(t, filepath.Join(dir, e.Name()))
		if kind := classify(string(text)); kind != "" {
			return kind
		}
	}
	return ""
}

// classify names a permissive licence by its wording, or returns an empty string.
func classify(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	}
	switch {
	case has("general public license"), has("mozilla public license"), has("server side public license"), has("business source license"):
		return ""
	case has("apache license", "version 2.0"):
		return "Apache-2.0"
	case has("permission is hereby granted, free of charge", "the software is provided \"as is\""):
		return "MIT"
	case has("redistributions of source code must retain", "neither the name"):
		return "BSD-3-Clause"
	case has("redistributions of source code must retain", "in binary form must reproduce"):
		return "BSD-2-Clause"
	case has("permission to use, copy, modify, and/or distribute this software"):
		return "ISC"
	case has("this is free and unencumbered software released into the public domain"):
		return "Unlicense"
	default:
		return ""
	}
}

func TestClassify(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"apache", "Apache License\n   Version 2.0, January 2004", "Apache-2.0"},
		{"mit", "Permission is hereby\ngranted, free of charge, … THE SOFTWARE IS PROVIDED \"AS IS\"", "MIT"},
		{"bsd", "Redistributions of source code must retain … in binary form must reproduce … Neither the name", "BSD-3-Clause"},
		{"gpl", "GNU GENERAL PUBLIC LICENSE Version 3", ""},
		{"lgpl beside another", "GNU Lesser General Public License … Apache License Version 2.0", ""},
		{"nothing", "all rights reserved", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := classify(tt.text); got != tt.want {
				t.Errorf("classify = %q, want %q", got, tt.want)
			}
		})
	}
}
