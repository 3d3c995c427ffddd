package secretfile_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

func TestNames(t *testing.T) {
	for name, want := range map[string][2]bool{ // named, possible
		".env": {true, true}, ".env.local": {true, true}, ".envrc": {true, true}, "server.p12": {true, true}, "a.key": {true, true}, ".pgpass": {true, true},
		"id_rsa": {true, true}, "id_ed25519.old": {true, true}, "id_rsa_work": {true, true}, "id_ecdsa_sk.pub": {true, true},
		"id_work": {false, true}, "id_service": {false, true},
		"id_rsa_test.go": {false, false}, "id_list.go": {false, false}, "env": {false, false}, "monkey": {false, false}, ".git": {false, false}, "": {false, false},
	} {
		if got := [2]bool{secretfile.Named(name), secretfile.Possible(name)}; got != want {
			t.Errorf("%q: named, possible = %v, want %v", name, got, want)
		}
	}
}
