package deny

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// What the rules let through does not start the forbidden program in a real shell, in any combination.
func TestShellsAgree(t *testing.T) {
	names := []string{"zap", "z''ap", `\zap`, `"zap"`, "STUB/zap", "za{p,p}", "$'\\x7aap'", "$z", "za?", "STUB/z?p", "$(echo zap)", "zap.txt", "xzap", "ZAP"}
	forms := []string{
		"% x", "env % x", "env A=b % x", "sh -c '% x'", `bash -c "% x"`, "echo % x | sh", "true && %", "false || %", "x=$(%)", "f() { %; }; f", "eval % x", "echo a | xargs %",
		"find . -maxdepth 0 -exec % x \\;", "echo '% x'", "printf %s '%'", "grep % .", "ls %", "z=%; $z", "case % in a) ;; *) %;; esac", "command % x", "exec % x", "nice % x", "timeout 2 % x", "[ % = a ]",
		"cat <<E\n%\nE", "sh <<E\n%\nE", "cat <<'E'\n%\nE", "{ %; }", "( % )", "! %", "trap % EXIT", "shopt -s expand_aliases\nalias q=%\nq", "git -c alias.q='!%' q", "sed '1e %' f", `awk 'BEGIN{system("%")}'`,
		"sort --compress-program=% f", "env -S '% x'", "setsid -w %", "echo $(( 1 + $(% >/dev/null; echo 1) ))", "read q <<< %; $q", "PATH=.:$PATH %", "if %; then :; fi", "while %; do break; done", "for q in %; do $q; done",
		"for q in %; do echo $q; done", "echo `%`", "echo \"$(%)\"", "cat < <(%)", "% &\nwait", "time %", "coproc %; wait", "q=% ; echo $q", "set -- %; \"$@\"", "set -- %; echo \"$1\"", "printf '%' | bash", "nohup % 2>/dev/null",
		"bash -c 'eval \"$0\"' %", "source /dev/stdin <<< %", ". /dev/stdin <<E\n%\nE", "python3 -c 'import os; os.system(\"%\")'", "perl -e 'system(\"%\")'", "test -n %", "type %", "[[ -n % ]]", "hash %", "q=(%); ${q[0]}",
		"hash -p STUB/zap q; q", "BASH_CMDS[q]=STUB/zap; q", "PS4='$(%)'; set -x; true", "export PS4='$(%)'; set -x; true", "q='$(%)'; echo \"${q@P}\"", "q='a[$(%)]'; echo $((q))", "printf -v 'a[$(%)]' x",
		"test -v 'a[$(%)]'", "let 'a[$(%)]'", "read 'a[$(%)]' <<< 1", "unset 'a[$(%)]'", "read PS4 <<< '$(%)'; set -x; true", "for PS4 in '$(%)'; do set -x; true; done", "env -S '%\\_x'", "tar -I % -cf q f",
		"tar cfI q % f", "tar --checkpoint=1 --checkpoint-action=exec=% -cf q f", "echo % | xargs env", "echo % | xargs -I{} sh -c {}", "echo % | xargs -I{} {} x", "find STUB/zap -exec {} x \\;", "echo '%' | { sh; }",
		"echo '%' | (sh)", "{ sh; } <<< '%'", "sed '1e%' f", "export PAGER=%; git --paginate help -a", "make -f - <<< 'x:;%'", "printf -v q 'a[\\x24(%)]'; ((q))", "q=$(printf 'a[\\44(%)]'); echo $((q))", "q=$(printf 'a[\\u0024(%)]'); [[ q -eq 1 ]]", "echo '%' | . /dev/stdin", "echo '%' | sh /dev/fd/0",
	}
	rules := NewRules([]string{"zap *"})
	dir, stub := t.TempDir(), t.TempDir()
	marker := filepath.Join(stub, "started")
	write := func(path, text string, mode os.FileMode) {
		stdtest.Must(t, os.WriteFile(path, []byte(text), mode))
	}
	write(filepath.Join(stub, "zap"), "#!/bin/sh\n: > "+marker+"\n", 0o700)
	write(filepath.Join(dir, "f"), "b\na\n", 0o600)
	rounds := 400
	if os.Getenv("SOAK") != "" {
		rounds = 10_000
	}
	rnd, ran, refused := rand.New(rand.NewPCG(1, 2)), 0, 0
	for range rounds {
		text := names[rnd.IntN(len(names))]
		for range 1 + rnd.IntN(3) {
			text = strings.ReplaceAll(forms[rnd.IntN(len(forms))], "%", text)
		}
		text = strings.ReplaceAll(text, "STUB", stub)
		if _, no := rules.Refuses(text); no {
			refused++
			continue
		}
		for _, shell := range []string{"bash", "dash"} {
			path, err := exec.LookPath(shell)
			if err != nil {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			cmd := exec.CommandContext(ctx, path, "-c", text)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + stub + ":/usr/bin:/bin", "HOME=" + dir, "z=zap"}
			cmd.WaitDelay = time.Second
			_ = cmd.Run() // most commands are nonsense
			cancel()
			ran++
			if _, err := os.Lstat(marker); err == nil {
				t.Errorf("%s starts the program with %q", shell, text)
				stdtest.Must(t, os.Remove(marker))
			}
		}
	}
	t.Logf("refused=%d executed=%d", refused, ran)
	if refused == 0 || ran == 0 {
		t.Error("nothing was compared")
	}
}
