// Package secretfile knows the names of files with keys and passwords. It is the only such
// list: the sandbox of commands hides files with these names, the file tools refuse them,
// and the validation of command rules consults it.
//
// A name is one part of a path, normalised by [Normalize].
package secretfile

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Named reports whether files with this name contain keys, passwords or credentials of a
// cloud.
func Named(name string) bool {
	if slices.Contains(named(), name) {
		return true
	}
	for _, begin := range beginnings() {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	ext := path.Ext(name)
	return slices.Contains(extensions(), ext) && !slices.Contains(authorities(), name) ||
		ext == ".json" && cloudKey(name) || sshKey(name)
}

// Own reports whether the name is that of a host's state or settings.
func Own(name string) bool {
	return name == ".ship" || Aside(name) || strings.HasPrefix(name, "ship.json")
}

// Aside reports whether the name is that of a state that no host uses: one that a person moved away, or one that is
// being restored. It has the private texts of all chats.
func Aside(name string) bool { return strings.HasPrefix(name, aside) }

// aside begins the names of states that no host uses.
const aside = ".ship."

// Store reports whether the name is that of a version store, whose settings and packs
// contain all earlier contents of the files.
func Store(name string) bool { return slices.Contains(stores(), name) }

// Possible reports whether files with this name may contain secrets. Its pattern matches
// keys with a name of their own, but also other files, which must not simply be hidden.
func Possible(name string) bool {
	return Named(name) || strings.HasPrefix(name, "id_") && !source(name)
}

// Protected reports whether a rule for commands never covers an operand with this name.
func Protected(name string) bool { return Possible(name) || Own(name) || Store(name) }

// Glob reports whether a shell pattern matches protected names by its literal parts, as in
// id_*, cred*.json, *.pem. A pattern with hardly any literal part, such as a*, can only be
// checked against the existing files.
func Glob(pattern string) bool {
	const meta = `*?[`
	first := strings.IndexAny(pattern, meta)
	if first < 0 {
		return Protected(pattern)
	}
	prefix, suffix := pattern[:first], pattern[strings.LastIndexAny(pattern, meta+"]")+1:]
	if slices.ContainsFunc(extensions(), func(ext string) bool { return strings.HasSuffix(suffix, ext) }) {
		return true
	}
	if len(prefix) < 2 {
		return false
	}
	return slices.ContainsFunc(slices.Concat(named(), []string{".ship", "ship.json"}, stores()), func(name string) bool {
		return strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix)
	}) || slices.ContainsFunc(append(beginnings(), "id_", aside), func(begin string) bool {
		return (strings.HasPrefix(begin, prefix) || strings.HasPrefix(prefix, begin)) && !source(suffix)
	}) || Protected(prefix+suffix)
}

func stores() []string { return []string{".git", ".hg", ".svn"} }

func named() []string {
	return []string{
		".ssh", ".gnupg", ".password-store", ".secrets",
		".aws", ".azure", ".kube", ".docker", ".gcloud", "gcloud", ".oci", ".aliyun", ".tccli", ".ibmcloud",
		".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf", ".mylogin.cnf",
		".boto", ".s3cfg", ".passwd-s3fs", ".dockercfg", ".dockerconfigjson", "kubeconfig", ".databrickscfg", ".ossutilconfig", "rclone.conf", ".rclone.conf",
		"application_default_credentials.json", "legacy_credentials", "credentials.db", "access_tokens.db", "credentials.json", "credentials.toml",
		"credentials.tfrc.json", ".terraformrc", ".vault-token",
	}
}

// beginnings are prefixes of protected names, whatever follows.
func beginnings() []string { return []string{".env", "terraform.tfstate"} }

func extensions() []string {
	return []string{
		".pem", ".key", ".p8", ".p12", ".pfx", ".pkcs12", ".jks", ".keystore", ".kdbx", ".ppk", ".gpg", ".age", ".ovpn",
		".tfstate", ".kubeconfig",
	}
}

// authorities are well-known files with public certificates only. Without them programs
// cannot make TLS connections.
func authorities() []string { return []string{"cacert.pem", "ca-bundle.pem", "roots.pem"} }

// cloudKey reports whether the name of a JSON file is that of a key of a cloud.
func cloudKey(name string) bool {
	parts := []string{"service-account", "service_account", "serviceaccount", "client_secret", "client-secret"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// sshKey accepts id_rsa and id_ed25519.old, but not id_rsa_test.go.
func sshKey(name string) bool {
	kinds := []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"}
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(name, kind) }) && !source(name)
}

// source reports whether a name is one of source code, data or documents.
func source(name string) bool {
	switch path.Ext(name) {
	case ".c", ".cc", ".cpp", ".cs", ".css", ".csv", ".go", ".h", ".hpp", ".html", ".java", ".js", ".json", ".jsx", ".kt", ".lua",
		".md", ".php", ".proto", ".py", ".rb", ".rs", ".scala", ".sql", ".swift", ".toml", ".ts", ".tsx", ".txt", ".vue", ".yaml", ".yml":
		return true
	}
	return false
}

// Normalize normalises a part of a path as the most tolerant file system compares it: without
// regard to case, normal forms, invisible characters, and blanks and dots at its end.
func Normalize(part string) string {
	if !strings.ContainsFunc(part, func(r rune) bool { return r >= utf8.RuneSelf || r < ' ' || r == 0x7f }) {
		return strings.TrimRight(strings.ToLower(part), ". ") // the usual case, without allocation
	}
	part = strings.ToLower(norm.NFKC.String(part))
	part = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, part)
	return strings.TrimRight(norm.NFKC.String(strings.ToLower(part)), ". ")
}
