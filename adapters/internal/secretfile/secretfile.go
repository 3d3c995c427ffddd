// Package secretfile knows what files with keys and passwords are called, so that the
// tools that read files and the sandbox of commands keep the same ones to themselves.
// A name is one part of a path, in small letters.
package secretfile

import (
	"path"
	"slices"
	"strings"
)

// Named says that what has the name holds keys or passwords.
func Named(name string) bool {
	switch name {
	case ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker",
		".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf":
		return true
	}
	switch path.Ext(name) {
	case ".pem", ".key", ".p8", ".p12", ".pfx", ".pkcs12", ".jks", ".keystore", ".kdbx", ".ppk", ".gpg", ".age", ".ovpn":
		return true
	}
	return strings.HasPrefix(name, ".env") || sshKey(name)
}

// Possible says that it may hold them: its name is that of keys with a name of their
// own, and of other things too, whose users would miss them.
func Possible(name string) bool {
	return Named(name) || strings.HasPrefix(name, "id_") && !source(name)
}

// sshKey takes id_rsa and id_ed25519.old, and not id_rsa_test.go.
func sshKey(name string) bool {
	kinds := []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"}
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(name, kind) }) && !source(name)
}

// source says that a name is one of source code, data or documents.
func source(name string) bool {
	switch path.Ext(name) {
	case ".c", ".cc", ".cpp", ".cs", ".css", ".csv", ".go", ".h", ".hpp", ".html", ".java", ".js", ".json", ".jsx", ".kt", ".lua",
		".md", ".php", ".proto", ".py", ".rb", ".rs", ".scala", ".sql", ".swift", ".toml", ".ts", ".tsx", ".txt", ".vue", ".yaml", ".yml":
		return true
	}
	return false
}
