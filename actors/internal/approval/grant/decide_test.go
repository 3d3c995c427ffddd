package grant

import (
	"strings"
	"testing"
)

// check checks commands against a rule: those of auto are covered, those of ask are not.
func check(t *testing.T, rule string, auto, ask []string) {
	t.Helper()
	policy := shippedPolicy(t)
	for _, list := range []struct {
		want     Verdict
		commands []string
	}{{Auto, auto}, {Ask, ask}} {
		for _, c := range list.commands {
			if got := Decide(c, rule, policy); got != list.want {
				t.Errorf("%q under %q: got %s, want %s", c, rule, got, list.want)
			}
		}
	}
}

func TestTextGate(t *testing.T) {
	long := "wc " + strings.Repeat("x", 8192-3)
	check(t, "wc *", []string{"wc é", "wc e\u0301", "wc 日志", "wc\tx", "wc 'a\nb'", "wc a\ufe0f", "wc a\ufffd", "wc a👍🏽", "wc ａ", long}, []string{
		long + "x", long + "\n",
		"wc a\xff", "wc \xc3", "wc a\r", "wc a\r\n", "wc a\x00", "wc a\x1b", "wc a\a", "wc a\x7f", "wc a\u0085", "wc a\v", "wc a\f", "wc a # \x07",
		"wc a\u200b", "wc a\u200d", "wc a\u202e", "wc \ufeffa", "wc a\u00ad", "wc a\u2060", "wc a\U000E0061", "wc a\u0600",
		"wc a\u2028", "wc a\u2029", "wc a\ue000", "wc a\U0010fffd", "wc a\u0378", "wc a\uffff", "wc a\U0010ffff",
		"wc a\u00a0", "wc\u00a0a", "wc\u3000a", "wc a\u2003b", "wc 'a\u202fb'",
	})
}

func TestOneSimpleCommand(t *testing.T) {
	check(t, "git status", []string{
		"git status", " \t git  status\t ", "git status\n", "git status \n\n \n", "git status;", "git status ;\n", "git status;\n\n",
		"git status # a; b && c", "git status #", "git status; # x", "git status\n# x\n\n# y", "git status # x \\\n", "git status # x\n",
		"git \\\nstatus", "git sta\\\ntus", "g\\\nit status", "git status \\\n", "git status \\\n -s", "\\\ngit status", "git status -s\\\n",
		"git status \\\n# x", "git 'status'", `"git" status`, `g'i't s""tatus`, `g\it stat\us`, `git "sta\
tus"`,
		"git status >/dev/null", "git status > /dev/null", "git status 1>/dev/null", "git status 2>/dev/null", "git status 2> \t/dev/null",
		"git status </dev/null", "git status < /dev/null", "git status 2>&1", "git status 2>& 1", "git status 1>&2", "git status >&2",
		"git status >& 2", ">/dev/null git status", "git </dev/null status -s 2>/dev/null", "git status >/dev/null 2>&1", "git status >\\\n/dev/null",
		"git status 2>\\\n&1", "git status>/dev/null", "git status>&2;", "git status 2>&1>/dev/null",
	}, []string{
		"", " ", "\n", ";", "#", "# git status", "git", "status", "git statu", "git statuss", "Git status", "GIT STATUS", "git Status",
		"\ngit status", "# x\ngit status", "git status;;", "git status; ;", "git status\n;", ";git status", "git status; id", "git status;id",
		"git status\nid", "git status # x\nid", "git status # x \\\nid", "git status # x \\\n -s", "git status;\nid", "git status\\\n\nid",
		"git status &", "git status&", "git status & id", "git status && git status", "git status || id", "git status | cat", "git status |& cat",
		"git status &&", "git status |", "! git status", "!git status", "time git status", "time -p git status", "coproc git status",
		"ti\\\nme git status", "{ git status; }", "(git status)", "( git status )", "if true; then git status; fi", "while git status; do :; done",
		"for i in a; do git status; done", "case x in x) git status;; esac", "git() { :; }", "function git { :; }", "function git status", "git status()",
		"[[ git status ]]", "((git status))", "let git status", "declare git status", "export git status", "select x in a; do git status; done",
		"then git status", "do git status", "done", "fi", "}", "git status }", "git status )", "git status '", "git status \"", "git status \\",
		"git status `", "git status $(", "git status <<E\nE", "git status <<<x", "FOO=1 git status", "FOO= git status", "FOO+=1 git status",
		"F\\\nOO=1 git status", "a[0]=1 git status", "FOO=1", ">/dev/null FOO=1 git status", ">/dev/null",
		"git status >f", "git status > f", "git status >>/dev/null", "git status >|/dev/null", "git status &>/dev/null", "git status >&/dev/null",
		"git status <>/dev/null", "git status 0</dev/null", "git status 3>/dev/null", "git status 02>/dev/null", "git status 12>/dev/null",
		"git status 2>&2", "git status >&1", "git status 1>&1", "git status 2>&-", "git status 2>&1-", "git status <&0", "git status 2>&3",
		"git status >'/dev/null'", "git status >/dev/nul\\l", "git status >/dev/null/x", "git status >/dev//null", "git status >/dev/null*",
		"git status {fd}>/dev/null", "git status >/dev/tcp/x/1", "git status 2 >/dev/null", "git status '2'>/dev/null", `git status ""2>/dev/null`,
		`git status \2>/dev/null`, "git status >", "git status 2>", "git status >\n/dev/null", "git status > #/dev/null", "git status >(id)", "git status <(id)",
		"git status >/dev/null;id", "git status >/dev/null#x", "git status 2>&1#",
		"/usr/bin/git status", "./git status", "env git status", "sudo git status", "timeout 5 git status", "command git status", "exec git status",
		"ｇｉｔ status", "gіt status", "git status\\ ", `"git status"`, "git\\ status", "git '' status", "'' git status", `"!" git status`,
	})
}

func TestStaticWords(t *testing.T) {
	check(t, "grep *", []string{
		`grep 'a$b' f`, `grep a\$b f`, `grep "a\$b" f`, "grep 'a`b' f", "grep a\\`b f", "grep \"a\\`b\" f", `grep "a$" f`, `grep a$ f`, `grep "a$|b$" f`,
		`grep 'a{b}' f`, `grep a\{b f`, `grep "a{1,2}" f`, `grep 'a(b)' f`, `grep a\(b f`, `grep a\;b f`, `grep "a&b|c<d>" f`, `grep a\~ f`,
		`grep a~b f`, `grep HEAD~3 f`, `grep a:~ f`, `grep a!b f`, `grep "a!b" f`, `grep a#b f`, `grep a=b f`, `grep 'a=~' f`, `grep a=b~ f`, `grep a^b f`,
		`grep a\ b f`, `grep 'a'"b"c\d f`, `grep "a\\b" f`, `grep "a\b" f`, `grep a\*b f`, `grep 'a*'\?"[" f`, `grep a\"b f`, `grep "a'b" f`, `grep a%b,c@d+e f`,
		`grep a] f`, `grep a-b f`,
	}, []string{
		`grep $a f`, `grep a$a f`, `grep "a$b" f`, `grep a${b} f`, `grep "a${b}" f`, `grep a$(b) f`, `grep "a$(b)" f`, "grep a`b` f", "grep \"a`b`\" f",
		`grep a$((1)) f`, `grep a$[1] f`, `grep a$'b' f`, `grep a$"b" f`, `grep $'a' f`, `grep $"a" f`, `grep a$@ f`, `grep a$* f`, `grep a$# f`, `grep a$? f`,
		`grep a$$ f`, `grep a$! f`, `grep a$- f`, `grep a$1 f`, `grep a$_ f`, "grep a$\\\nb f", "grep \"a$\\\nb\" f", "grep a$\\b f", `grep "a$é" f`,
		`grep a <(b)`, `grep a >(b)`, `grep @(a|b) f`, `grep a+(b) f`, `grep a?(b) f`, `grep a*(b) f`, `grep !(b) f`, `grep a@() f`,
		`grep ~ f`, `grep ~/x f`, `grep a ~b`, `grep a x=~`, `grep a x=~/y`, `grep a x=y:~`, `grep a x+=~`, "grep a x=\\\n~", "grep a \\\n~",
		`grep a{b f`, `grep a}b f`, `grep {a,b} f`, `grep a{1..2} f`, `grep {} f`, `grep a=(b) f`, `grep a(b) f`,
	})
	check(t, `grep '*' "a b" \;`, []string{`grep \* 'a b' ";"`, `grep "*" a\ b ';'`}, []string{`grep * 'a b' \;`, `grep '*' a b \;`})
}

func TestRules(t *testing.T) {
	policy := shippedPolicy(t)
	tests := map[string][]string{
		"valid": {
			"ls", "ls *", " ls  * ", "ls 'a b' *", "git status *", "git status", "git", "python3", "python3 x.py", "bash x.sh", "make test", "env", "sudo ls",
			"git config user.name", "npm run build", "docker run x", "ls '*'", `ls \*`, "ls -l *", "ls .. *", "ls /etc *", "grep a$ *", "npm test *", "pythonic *",
			"noded *", "python3-config *", "node_exporter *", "luac *", "phpunit *", "gitk *", "uname -a", "git log -- *", "if2 *", "lsé *", `"time" x`,
		},
		"void": {
			"", " ", "*", " * ", "'' *", "''", "#", "ls # x", "ls;", "ls ;", "ls; id", "ls & ", "ls | cat", "ls > x", "ls 2>&1", "ls >/dev/null", "A=1 ls", "A=1",
			"ls\n", "ls\t*", "ls\\\n *", "ls * *", "ls * a", "ls a*", "ls ?", "ls [a]", "ls **", "l? *", "ls *.txt", "ls ~", "ls {a,b}", "ls $x", "ls $(x)", "ls `x`",
			"ls 'a", "ls \u200b*", "ls\u00a0*", "ls \xff", "ls a\x07", "time ls", "! ls", "(ls)", "{ ls; }", "if *", "[[ a ]]", "[ *", "export A *", `"export" A=b`, `\let a`,
			"/bin/ls", "/bin/ls *", "./x", "a/b *", "'a/b' *",
			"sh *", "bash -c *", "env *", "sudo ls *", "xargs *", "eval *", ". *", "python *", "python3 *", "python3 x.py *", "python3.12 *", "python-3.12 *", "python3.13t *",
			"pypy3.10 *", "perl5.36.0 *", "ruby3 *", "node18 *", "lua5.4 *", "php8.2 *", "Python3 *", "sed -n *", "awk *", "make *", "make test *", "less *", "time *", "npx *",
			"trap *", "read x *", `'ba'sh *`,
			"git *", "go *", "npm *", "docker *", "gh *", "git -C *", "git -c x *", "git --no-pager log *", "git '-C' x *", "docker -H x ps *", "go -C x *",
			"git config *", "git config user.name *", "git rebase *", "go run *", "go run . *", "npm run *", "npm i *", "docker compose *", "kubectl apply *", "systemctl edit *",
			"yarn run *", "uv run *", "git con\\fig *",
		},
	}
	for name, rules := range tests {
		for _, rule := range rules {
			if _, ok := ParseRule(rule, policy); ok != (name == "valid") {
				t.Errorf("%q: valid = %v, want %s", rule, ok, name)
			}
		}
	}
	check(t, "python3 x.py", []string{"python3 x.py", "python3 'x.py'", "python3 x.py --"}, []string{"python3 -- x.py", "python3 x.py -v", "python3 y.py", "python3 -c x.py", "python3 x.py y"})
	check(t, "ls", []string{"ls", "ls --", "ls -l"}, []string{"ls x", "ls -l x", "ls -- x", ""})
	check(t, "*", nil, []string{"ls", "*", ""})
	for rule, want := range map[string]bool{"python3.12 x.py": true, "bash x.sh": true, "ls x": false} {
		if r, ok := ParseRule(rule, policy); !ok || r.Runner != want {
			t.Errorf("%q: runner %v, %v, want %v", rule, r.Runner, ok, want)
		}
	}
}

func TestMatching(t *testing.T) {
	check(t, "git diff main HEAD *", []string{
		"git diff main HEAD", "git diff --stat main -w HEAD a b", "git diff main HEAD -- a", "git diff -- main HEAD a", "git diff -U 3 main -U5 HEAD a", "git diff main HEAD main",
	}, []string{
		"git diff", "git diff main", "git diff HEAD main", "git diff a main HEAD", "git diff main a HEAD", "git diff main HEAD -- -w", "git diff main HEAD -- a -- b",
		"git --stat diff main HEAD", "git -- diff main HEAD", "git diff main HEAD -", "git diff main HEAD --output=x", "git diff main HE?D", "git diff -U main HEAD",
	})
	check(t, "git diff -- a", []string{"git diff -- a", "git diff -w -- a"}, []string{"git diff -- a -w", "git diff a", "git diff -- a --", "git diff -- -- a", "git diff --"})
	check(t, "ls -- *", []string{"ls -- a", "ls --"}, []string{"ls -- -l", "ls -l -- a", "ls a", "ls -- -- a"})
	check(t, "uname -a", []string{"uname -a", "uname -a -r", "uname -a --"}, []string{"uname", "uname -r -a", "uname -ra", "uname -a x", "uname -a -"})
	check(t, "cat - *", []string{"cat - a", "cat -"}, []string{"cat a", "cat - -"})
	check(t, "frob *", []string{"frob a", "frob -- a"}, []string{"frob -v", "frob --help", "frob -1"})
	check(t, "frob -v *", []string{"frob -v a"}, []string{"frob a", "frob -v -v"})
	check(t, "'git status'", []string{"git\\ status"}, []string{"git status", "'git status' -s"})
	check(t, "git push", []string{"git push"}, []string{"git push -v", "git push x"})
}

func TestOptions(t *testing.T) {
	check(t, "grep *", []string{
		"grep -n x", "grep -nir x", "grep -A 2 x", "grep -A2 x", "grep -nA 2 x", "grep -nA2 x", "grep -A=2 x", "grep --max-count=2 x", "grep --max-count 2 x",
		"grep -e x", "grep -ex", "grep -e 'a b*' f", "grep --include='*.go' x", `grep "-n" x`, `grep -"n"'i' x`, "grep --color=never x", "grep -e ../x f", "grep -e /x f",
		"grep -rn --exclude-dir .git x .", "grep x -n", "grep -n -- x",
	}, []string{
		"grep -P x", "grep -nP x", "grep -f x", "grep -A", "grep -A -2 x", "grep -e -x", "grep -e '' x", "grep -e a* x", "grep -e -- x", "grep -A '-2' x", "grep -An 2 x y/../z",
		"grep --max-coun=2 x", "grep --max-count= x", "grep --ignore x", "grep --color=always x", "grep --color x", "grep --include=*.go x", "grep -e* x", "grep -n* x",
		"grep --line-number=1 x", "grep -max-count=2 x/..", "grep ---n x", "grep --n x", "grep -2 x", "grep --regexp", "grep -é x", "grep -N x", "grep -n=x",
	})
	check(t, "git log", []string{"git log -5", "git log -n 5", "git log -n5", "git log -20 --oneline", "git log --format=%H", "git log --since '1 week ago'", "git log -p"},
		[]string{"git log -5a", "git log -5 x", "git log --output=x", "git log -5p", "git log -٣", "git log -n -5", "git log --format", "git log --output x", "git log -n ''"})
	check(t, "git status", []string{"git status -sb", "git status -uno", "git status -su", "git status -bs -z", "git status --porcelain=v2"},
		[]string{"git status -f", "git status -sf", "git status -suno", "git status --porcelain=v3", "git status --short=1"})
	check(t, "ls *", []string{"ls -la", "ls -l1a", "ls -1", "ls --color=auto"}, []string{"ls -lZ", "ls --color", "ls -12"})
	check(t, "go test ./...", []string{
		"go test -v ./...", "go test --v ./...", "go test -run X ./...", "go test --run=X ./...", "go test -count=1 -race ./...", "go test ./... -count 1", "go test -run '^A$' ./...",
	}, []string{
		"go test -exec x ./...", "go test -vrace ./...", "go test ---v ./...", "go test -v=true ./...", "go test -count= ./...", "go test -run ./...", "go test -count1 ./...",
		"go test -run -v ./...", "go test -toolexec=x ./...", "go test -o x ./...", "go test ./... -args", "go test -RUN X ./...", "go test -=v ./...", "go test --=1 ./...",
	})
	check(t, "find *", []string{"find . -name '*.go'", "find src -not -type f -print", "find . -maxdepth 2", "find . -path ./x -empty", "find . -size +5"}, []string{
		"find . -exec rm x", "find . -delete", "find . -name=x", "find . --name x", "find . -name", "find . -name *.go", "find . -mtime -1", "find . -typef", "find . -fprint x",
		"find . -o -print", "find / -print", "find . ! -print", "find . \\( -print \\)", "find -L .", "find . -printx", "find . -ok x",
	})
	check(t, "make test", []string{"make test -j4", "make test -sk", "make test -j"}, []string{"make -j4 test", "make test -j17", "make test -f x", "make test X=1", "make test -C x"})
}

func TestPlainOperands(t *testing.T) {
	check(t, "cat *", []string{
		"cat", "cat a", "cat _a", "cat 9", "cat .", "cat ./a", "cat .a", "cat ...", "cat a/b//c/", "cat a:b", "cat é", "cat ß", "cat 文", "cat 'ａ'", "cat ª", "cat env",
		"cat .gitignore", "cat .github/x", "cat a.env", "cat a.env.b", "cat git/.gitkeep", "cat a..b", "cat ..a", "cat ./-x", "cat a:/b", "cat 'a b'", "cat a@b:c", "cat x.ssh",
		"cat a*", "cat _?", "cat 1[ab]", "cat ./*", "cat ./*.go", "cat a/*/b", "cat a/b.*", "cat './'*", "cat a[", "cat a*.b/c", "cat .a b*", "cat a/.b/*", "cat ./a/**",
	}, []string{
		"cat -", "cat ''", "cat /etc/passwd", "cat ..", "cat ../a", "cat a/..", "cat a/../b", "cat a:..", "cat a:../b", "cat ./..", "cat +a", "cat @a", "cat =a", "cat %1", "cat :a", "cat ,a", "cat ' a'",
		"cat a://b", "cat http://x", "cat a::b", "cat ::", "cat ':(top)a'", "cat \u0301a", "cat '(a)'", "cat ٣", "cat ①", "cat 👍", "cat '$a'", "cat '-a'", "cat \\-a",
		"cat .envrc", "cat .environment", "cat .env", "cat .ENV", "cat .Env", "cat a/.env", "cat a:.env", "cat .env/a", "cat .env.local", "cat .ENV.x", "cat a/.env.", "cat .git", "cat .Git/config", "cat a/.git/x", "cat HEAD:.git/x", "cat .ssh/id",
		"cat .ſsh/id", "cat .\u212aube/config", "cat .aws", "cat .azure", "cat .gnupg", "cat .kube", "cat .docker/x", "cat .netrc", "cat .npmrc", "cat .pypirc", "cat .git-credentials", "cat '.e'nv", "cat .e\\nv",
		"cat *", "cat ?a", "cat [a]b", "cat .*", "cat .a*", "cat ./.*", "cat ./.e*", "cat a/.*", "cat a/.e?v", "cat a:.x*", "cat ../*", "cat a*/..", "cat a*/.env", "cat '.'*", "cat .?", "cat .a/*", "cat a/.[a]*",
		"cat './.'*", "cat a://*", "cat -*", "cat ''*",
	})
	// Words that the rule spells out need not be plain.
	check(t, "cat /etc/hosts ../a .env *", []string{"cat /etc/hosts ../a .env b"}, []string{"cat /etc/hosts ../a .env .env", "cat /etc/hosts .env ../a"})
}
