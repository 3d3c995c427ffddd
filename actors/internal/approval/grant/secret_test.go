package grant

import "testing"

// No open rule covers a name that looks like a secret, however it is spelled: as an operand, inside one, or in the
// value of an option. Neither does it cover patterns that git expands itself.
func TestSecretsAsk(t *testing.T) {
	check(t, "cat *", []string{
		"cat keys.go", "cat id_list.go", "cat shipping.json", "cat monkey", "cat certs/cacert.pem", "cat service-account.go", "cat ./*.go", "cat src/*", "cat docs/ship.md",
	}, []string{
		"cat .ship/access.json", "cat a/.Ship/x", "cat ship.json", "cat ./SHIP.JSON", "cat a/ship.json.bak", "cat id_rsa", "cat keys/id_ed25519", "cat id_work", "cat a/server.pem",
		"cat server.KEY", "cat x.p12", "cat x.pfx", "cat db.kdbx", "cat x.jks", "cat .pgpass", "cat .htpasswd", "cat terraform.tfstate", "cat infra/x.tfstate", "cat .vault-token",
		"cat gcp-service-account.json", "cat application_default_credentials.json", "cat .config/gcloud/x", "cat kubeconfig", "cat .terraform.d/credentials.tfrc.json",
		"cat 'server.ke'y", "cat server\\.key", "cat './'id_rsa", "cat .\uff45nv", "cat '.env '", "cat .env.", "cat a/.aws/credentials", "cat x:server.key",
		"cat *.pem", "cat a/*.key", "cat a/id_*", "cat sh*.json", "cat a/cred*.json", "cat terra*.tfstate", "cat a/b*.p12", "cat id_rs[a]", "cat ship.jso?",
	})
	check(t, "grep *", []string{"grep -r --exclude=.env x src", "grep -r --exclude-dir=.git x src", "grep -e x a.go", "grep -rn --exclude-dir .git x ."}, []string{
		"grep -r --include=.env x .", "grep -r --include='*.pem' x .", "grep -r --include '.env*' x .", "grep -e x id_rsa", "grep -r --include=ship.json x .",
	})
	check(t, "rg *", []string{"rg -g '*.go' x"}, []string{"rg -g '.env*' x", "rg --glob='*.key' x", "rg -g.env x"})
	check(t, "git show *", []string{"git show HEAD", "git show HEAD:a/b.go", "git show HEAD~1 -- a/b.go", "git show main:README.md"}, []string{
		"git show HEAD:*", "git show 'HEAD:*'", "git show HEAD:.env", "git show HEAD:./.env", "git show HEAD:a/server.key", "git show ':.env'", "git show ':/fix'", "git show 'HEAD:.e[n]v'",
		"git show HEAD -- '.e*'", "git show HEAD -- .e*", "git show HEAD -- ':(glob)**/.e*'", "git show HEAD -- ':!x'", "git show HEAD -- 'a?c'", "git show HEAD -- a/*.go", "git show HEAD:ship.json",
		"git show 'HEAD:\\.env'", "git show HEAD:a/../.env",
	})
	check(t, "git diff *", []string{"git diff -- a.go", "git diff main"}, []string{
		"git diff -- ':(glob)**/.e*'", "git diff -- '**/x'", "git diff -- ':(icase).ENV'", "git diff -- '[.]env'", "git diff -- 'x\\*'", "git diff --no-index a .env", "git diff -- id_rsa",
	})
	check(t, "git log *", []string{"git log -p -- a.go", "git log --grep '^fix'"}, []string{"git log -p -- '*'", "git log -p -- '*.env'", "git log -p -- .env", "git log -L1,9:.env"})
	check(t, "git add *", []string{"git add a.go"}, []string{"git add '*.env'", "git add *.go", "git add -A", "git add .npmrc", "git add -- ':/'"})
	check(t, "git checkout *", []string{"git checkout main"}, []string{"git checkout -- .e*", "git checkout -- '.e*'", "git checkout HEAD -- a/.env", "git checkout '*'"})
	check(t, "git grep *", []string{"git grep x a.go"}, []string{"git grep x -- '.e*'", "git grep x -- '*.pem'", "git grep -f .env", "git grep x -- .ship"})
	check(t, "git cat-file *", nil, []string{"git cat-file -p HEAD:.env", "git cat-file blob HEAD:.env", "git cat-file blob 'HEAD:*'"})
	check(t, "git stash show *", nil, []string{"git stash show -p", "git stash show '*'"})
	check(t, "git ls-files *", []string{"git ls-files src"}, []string{"git ls-files '*.env'", "git ls-files ':(top)'"})
	// A person granted what the rule spells out.
	check(t, "git add '*.go'", []string{"git add '*.go'"}, []string{"git add '*.env'"})
	check(t, "cat server.key", []string{"cat server.key"}, []string{"cat id_rsa"})
}

// Every name in the policy's own list is also in the list for commands and file tools.
func TestOneListOfSecrets(t *testing.T) {
	for _, name := range shippedLists(t).ProtectedNames {
		if empty := protect(nil); !empty.secret(name) {
			t.Errorf("%s is protected by the policy alone", name)
		}
	}
}
