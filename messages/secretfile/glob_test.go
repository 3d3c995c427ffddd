package secretfile_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

func TestGlobs(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*.pem": true, "*.key": true, "id_*": true, "id_rsa*": true, "ship.*": true, "sh*.json": true, ".env*": true, ".e*": true, ".n*rc": true, "cred*": true,
		"terraform.*": true, "cre[d]entials.json": true, ".ship": true, ".ship.*": true, ".s*.old": true, "x.p12": true, "[i]d_rsa.pem": true,
		"*": false, "a*": false, "*.go": false, "*.md": false, "src*": false, "id_*.go": false, "x?": false, "*.json": false,
	} {
		if got := secretfile.Glob(pattern); got != want {
			t.Errorf("%q: %v, want %v", pattern, got, want)
		}
	}
}

func TestNormalize(t *testing.T) {
	for name, want := range map[string]string{
		".ENV": ".env", ".env. ": ".env", ".e\u200bnv": ".env", ".\uff45nv": ".env", "x\n": "x", "": "", ".": "", "Ä.KEY": "ä.key",
	} {
		if got := secretfile.Normalize(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestProtected(t *testing.T) {
	for name, want := range map[string]bool{
		".ship": true, ".ship.old": true, ".ship.restoring": true, ".shipping": false, "ship.json": true, "ship.json.bak": true, ".git": true, "id_work": true, ".aws": true, "gcp-service-account.json": true,
		"application_default_credentials.json": true, "terraform.tfstate.backup": true, ".vault-token": true, "kubeconfig": true, "a.kdbx": true,
		"cacert.pem": false, "shipping.json": false, "service-account.go": false, "main.go": false, "credentials.go": false, "": false,
	} {
		if got := secretfile.Protected(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
