package reply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// meaning returns the notation of the tests for a reply: "+" approve all, "-" deny all, "?" unclear, "+a;b" approve
// some, "10:r;s" grant for 10 minutes.
func meaning(r Reply) string {
	targets := strings.Join(r.Targets, ";")
	switch r.Kind {
	case ApproveAll:
		return "+" + targets
	case DenyAll:
		return "-" + targets
	case ApproveSome:
		return "+" + targets
	case GrantTimed:
		return fmt.Sprintf("%d:%s", r.Minutes, targets)
	default:
		return "?" + targets
	}
}

// check checks the parser with lines "reply => meaning". An acute accent stands for a backtick.
func check(t *testing.T, pending []string, lines string) {
	t.Helper()
	for text := range strings.Lines(lines) {
		text = strings.ReplaceAll(strings.Trim(text, "\t\n"), "´", "`")
		if text == "" {
			continue
		}
		reply, want, ok := strings.Cut(text, " => ")
		if !ok {
			t.Fatalf("no meaning: %q", text)
		}
		if got := meaning(Parse(reply, pending, "bot")); got != want {
			t.Errorf("%q to %q: got %s, want %s", reply, pending, got, want)
		}
	}
}

func TestEveryPhrase(t *testing.T) {
	one, two := []string{"ls src"}, []string{"ls src", "wc -l a.txt"}
	names := []string{"bot", "小助手", "a_b-c.d"}
	seen := make(map[string]bool)
	for _, ph := range phrases() {
		if seen[ph.text] || ph.text != strings.TrimSpace(ph.text) || ph.text == "" {
			t.Errorf("%q is listed twice, or is not trimmed", ph.text)
		}
		seen[ph.text] = true
		all := ph.kind
		if ph.one {
			all = Unclear
		}
		for _, form := range []string{
			"%s", " %s ", "%s!", "%s！！", "%s~", "%s～", "%s.", "%s。", "%s, thanks", "%s，谢谢你！", "%s 辛苦了。", "%s! thx~",
			"%s,please", "%s thank  you", "@bot %s", "@小助手  %s。", "请%s", "please %s", "@a_b-c.d please  %s, thanks.",
		} {
			text := fmt.Sprintf(form, ph.text)
			if got := Parse(text, one, names...); got.Kind != ph.kind {
				t.Errorf("%q to one: got %s, want %s", text, got.Kind, ph.kind)
			}
			if got := Parse(text, two, names...); got.Kind != all {
				t.Errorf("%q to two: got %s, want %s", text, got.Kind, all)
			}
		}
		for _, form := range []string{
			"%s?", "%s？", "%s...", "%s…", "%s。。", "%s吗", "%s 吧你", "x%s", "%s\n", "%s\r\n", "a\n%s", "%s\t", "%s\u200b", "\ufeff%s",
			"%s\u2028", "%s\u0085", "%s\ue000", "%s\u0378", "%s\u202e", "%s\u00a0", "@bot%s", "@ %s", "@bot @bot %s", "@other %s", "@bot2 %s", "@bo %s", "@bot, %s", "please please %s",
			"%s thanks thanks", "%s,, thanks", "%s.!", "%s!.", "%s 👍", "%s %s", "%s 但是", "if %s", "“%s”", "`%s`", "%s\xff", "%s\u0301",
		} {
			text := strings.ReplaceAll(form, "%s", ph.text)
			if strings.Contains(ph.text, " ") && form == "@bot%s" || text == "no thanks thanks" {
				continue // the rest is a phrase too
			}
			if got := Parse(text, one, names...); got.Kind != Unclear {
				t.Errorf("%q to one: got %s, want unclear", text, got.Kind)
			}
		}
		if got := Parse(strings.ToUpper(ph.text), one); got.Kind != ph.kind {
			t.Errorf("%q in upper case: got %s", ph.text, got.Kind)
		}
		if got := Parse(wide(ph.text), one); got.Kind != ph.kind {
			t.Errorf("%q in full width: got %s", ph.text, got.Kind)
		}
		if got := Parse(ph.text, nil); got.Kind != Unclear {
			t.Errorf("%q to nothing: got %s", ph.text, got.Kind)
		}
	}
	if len(seen) != 109 {
		t.Errorf("%d phrases, want 109", len(seen))
	}
}

// wide returns a text in full-width characters.
func wide(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '\u3000'
		case '!' <= r && r <= '~':
			return r + '！' - '!'
		default:
			return r
		}
	}, text)
}

func TestPhrases(t *testing.T) {
	check(t, []string{"ls src"}, `
		👍🏽 => +
		👍️ => +
		👍🏿️ => +
		✅︎ => +
		❌️ => -
		👌🏻! => +
		👎🏾 => -
		🚫 谢谢 => -
		👍👍 => ?
		👍‍ => ?
		ok👍 => ?
		ok🏽 => ?
		️ => ?
		OKAY => +
		ｏｋ！ => +
		оk => ?
		allow İt => ?
		i  approve => +
		iapprove => ?
		okthanks => +
		ok ,thx => +
		ok, => ?
		同意， => ?
		谢谢 => ?
		请 => ?
		please => ?
		@bot => ?
		谢谢，同意 => ?
		好的。谢谢！ => +
		ok~! => +
		don’t => -
		don‘t run it => -
		DON'T => -
		dont => ?
		no thanks => -
		no, thank you. => -
		不用 => ?
		同 意 => ?
		不 同意 => ?
		可以可以 => ?
		没有问题 => ?
		approve all of them => ?
		ok ok => ?
		永远同意 => ?
		k => ?
	`)
	check(t, []string{"ls"}, "o\u212a => ?\nye\u017f => ?\n\u1d0fk => ?\nok\u0338 => ?\no\u200dk => ?\n")
	check(t, []string{"ls", "ls"}, "ok => ?\napprove all => +\n都行 => +\n不行 => -\n")
	if got := Parse("ok"+strings.Repeat("!", 298), []string{"ls"}); got.Kind != ApproveAll {
		t.Errorf("300 characters: got %s", got.Kind)
	}
	if got := Parse("行"+strings.Repeat("！", 300), []string{"ls"}); got.Kind != Unclear {
		t.Errorf("301 characters: got %s", got.Kind)
	}
}

func TestReasons(t *testing.T) {
	check(t, []string{"ls src", "wc"}, `
		不行，因为还没备份 => -
		不行 因为还没备份 => -
		不行因为还没备份 => ?
		不行。因为还没备份 => -
		不行：原因很多！ => -
		不行；理由：没备份 => -
		不,原因 => -
		No, because the disk is full. => -
		no because: the diff is a gift => -
		no: reason 5 => -
		No . Since you asked… => -
		none of them; since it is late => -
		全部拒绝,因为没备份,谢谢 => -
		@bot 不要， 因为 x => -
		no, reasonable => ?
		no, becausex => ?
		no - because x => ?
		no, x because y => ?
		yes, because x => ?
		可以，因为没事 => ?
		不行，因为我不同意 => ?
		不行，因为测试没通过 => ?
		不行，因为银行好远 => -
		不行，因为不要命了 => ?
		no, because I said stop => ?
		no, because we stopped => -
		no, because OK or no or y => -
		no, because you can go  ahead => ?
		no, because don’t => ?
		no, because nobody said "Sure" => ?
		no, because 说了yes了 => ?
		不行，因为👍 => ?
		no, because 👎🏽 => ?
		不行，因为没备份，但先列出来 => ?
		不行，因为没备份，不过 => ?
		不行，因为可是 => ?
		不行，因为除了第一个 => ?
		不行，因为除非 => ?
		不行，因为如果 => ?
		no because x BUT y => ?
		no because butter => -
		no because x, however y => ?
		no because x except y => ?
		no because x unless y => ?
		no because if y => ?
		no because ｉｆ y => ?
		no because why？ => ?
	`)
}

func TestNaming(t *testing.T) {
	check(t, []string{"ls src", "wc -l a.txt", "git  log", "cat `x`"}, `
		允许 ls src => +ls src
		允许ls src => +ls src
		同意 ls src。 => +ls src
		同意 ls src，谢谢！ => +ls src
		approve ls src => +ls src
		Approve LS src => ?
		approvels src => ?
		approve: ls src => ?
		approve ls  src => ?
		approve ls　src => ?
		approve ｌｓ src => ?
		approve ls => ?
		approve ls src now => ?
		approve git  log => +git  log
		approve git log => ?
		approve "git  log" => +git  log
		approve “ls src” => +ls src
		approve 「ls src」 => +ls src
		approve 'ls src' => +ls src
		approve ‘ls src’ => +ls src
		approve “ls src" => ?
		approve ""ls src"" => ?
		approve " ls src" => ?
		approve ls src" => ?
		approve (ls src) => ?
		批准´ls src´ => +ls src
		批准 ´´ls src´´ => ?
		approve cat ´x´ => +cat ´x´
		approve ´wc -l a.txt´、´ls src´ => +ls src;wc -l a.txt
		approve ´wc -l a.txt´ and ´ls src´ => +ls src;wc -l a.txt
		approve ´ls src´，´ls src´ => +ls src
		approve ´ls src´和´git  log´与´wc -l a.txt´&´ls src´ => +ls src;wc -l a.txt;git  log
		approve ´ls src´ ´git  log´ => ?
		approve ´ls src´,,´git  log´ => ?
		approve ´ls src´, ´rm x´ => ?
		approve ´ls src´, #2 => ?
		approve ´ls src´, => ?
		approve "ls src", "git  log" => ?
		approve ls src, git  log => ?
		approve ls src and git  log => ?
		只同意第一个 => +ls src
		仅允许执行第二条 => +wc -l a.txt
		通过 运行 第3项 => +git  log
		just approve #1 => +ls src
		only allow #1, #3 => +ls src;git  log
		请只批准第 2 个。 => +wc -l a.txt
		第1个同意 => +ls src
		第一、第二个可以 => +ls src;wc -l a.txt
		第２条和第４条行 => +wc -l a.txt;cat ´x´
		＃２ ok => +wc -l a.txt
		#2、#1 可以 => +ls src;wc -l a.txt
		第一个ok => +ls src
		第一个不同意 => ?
		第一个不行 => ?
		第一个可以吗 => ?
		第一个都可以 => ?
		第一个可以的 => ?
		第一个通过 => ?
		1可以 => ?
		first ok => ?
		第一个,2可以 => ?
		同意1 => +ls src
		同意 1和4 => +ls src;cat ´x´
		approve 1 and 2 => +ls src;wc -l a.txt
		approve 1 & 2, 3、4 => +ls src;wc -l a.txt;git  log;cat ´x´
		approve 1 2 => ?
		approve 1-3 => ?
		approve 1, 2, and 3 => ?
		approve 5 => ?
		approve 0 => ?
		approve 01 => ?
		approve -1 => ?
		approve 1.5 => ?
		approve 1. => +ls src
		approve 1st => ?
		同意一 => ?
		同意2个 => ?
		同意两个 => ?
		同意第两个 => ?
		同意第零个 => ?
		同意第0个 => ?
		同意第五个 => ?
		同意第一百个 => ?
		同意第十一个 => ?
		同意第1个、第5个 => ?
		同意第一个命令 => ?
		同意第一个第二个 => ?
		approve first => +ls src
		approve the first one => +ls src
		approve The Second Command and the fourth => +wc -l a.txt;cat ´x´
		approve third one => +git  log
		approve the fifth => ?
		approve the first two => ?
		approve the ones => ?
		approve this => ?
		同意这个 => ?
		同意#1, 这个 => ?
		approve 第1个 => +ls src
		拒绝第一个 => ?
		拒绝第一、第二、第三、第四个 => -
		deny 1,2,3,4 => -
		deny 1,2,3 => ?
		reject ls src => ?
		only deny 1,2,3,4 => ?
		第一个同意第二个拒绝 => ?
		不同意第一个 => ?
		不要同意第一个 => ?
		同意第一个，不要第二个 => ?
		同意除了第一个 => ?
	`)
	check(t, []string{"ls src"}, `
		同意这个 => +ls src
		只允许执行该命令！ => +ls src
		批准这条命令 => +ls src
		approve this => +ls src
		allow This One, please => +ls src
		approve this command => +ls src
		approve the one => ?
		approve thisone => ?
		approve #1 => +ls src
		拒绝这个 => -
		deny ls src => -
		refuse this one => -
		拒绝 1 => -
		拒绝第二个 => ?
		这个可以 => ?
	`)
	twelve := strings.Split("a b c d e f g h i j k l", " ")
	check(t, twelve, "同意第十二个 => +l\n同意第十个 => +j\napprove 11 => +k\n同意第一十个 => +j\n同意第二十个 => ?\n")
}

// TestTwoReadings checks that a text with two readings decides nothing and a text with one reading decides that.
func TestTwoReadings(t *testing.T) {
	check(t, []string{"ls", "ls .", "1", "echo thanks", "echo"}, `
		approve ls . => ?
		approve ls. => +ls
		approve "ls ." => +ls .
		approve echo thanks => ?
		approve echo => +echo
		approve 2 => +ls .
		approve 1 => ?
	`)
	check(t, []string{"ls .", "it"}, "approve ls . => +ls .\napprove ls . please! => +ls .\nallow it => ?\n同意 it => +it\n")
	check(t, []string{"cat 👍🏽"}, "同意 cat 👍🏽 => +cat 👍🏽\n同意 cat 👍🏿 => ?\n同意 cat 👍 => ?\n")
	check(t, []string{"notes/会议.md", "files:read"}, "同意notes/会议.md => +notes/会议.md\n批准 files:read => +files:read\n")
	check(t, []string{""}, "同意 => +\n同意 “” => ?\n同意第一个 => +\n")
}

func TestTimed(t *testing.T) {
	check(t, []string{"ls src", "wc -l a.txt", "git log -3", "python3 x.py"}, `
		在5分钟内都同意 ls * => 5:ls *
		5分钟同意 ls src => 5:ls src
		接下来十分钟之内都允许执行 wc * => 10:wc *
		未来 1 小时里 全都批准运行ls * => 60:ls *
		今后一个小时可以执行 git log => 60:git log
		今后60分钟内可以运行 ls * => 60:ls *
		半小时内都同意 “ls *” => 30:ls *
		半个小时同意「ls *」。 => 30:ls *
		两分钟内同意 ls * => 2:ls *
		二十五分钟内同意 ls * => 25:ls *
		６０分钟内同意 ls * => 60:ls *
		请在5分钟内都同意 ls *，谢谢！ => 5:ls *
		一分钟内同意 ls  * => 1:ls  *
		5 minutes内同意 ls * => 5:ls *
		5分钟内都同意´ls *´、´wc *´ => 5:ls *;wc *
		5分钟内都同意 ´ls *´和´rm *´ => ?
		5分钟内都同意 ls *、wc * => ?
		5分钟内同意 "ls" "src" => 5:"ls" "src"
		61分钟内同意 ls * => ?
		0分钟内同意 ls * => ?
		两小时内同意 ls * => ?
		2个小时内同意 ls * => ?
		1.5小时内同意 ls * => ?
		05分钟内同意 ls * => ?
		5分内同意 ls * => ?
		-5分钟内同意 ls * => ?
		一百分钟内同意 ls * => ?
		1000000000000000000005分钟内同意 ls * => ?
		5分钟内，同意 ls * => ?
		5分钟内可以 ls * => ?
		5分钟内不同意 ls * => ?
		5分钟内都不允许 ls * => ?
		在接下来5分钟内同意 ls * => ?
		5分钟内同意 => ?
		5分钟内都同意 这个 => ?
		5分钟内都同意第一个 => ?
		5分钟内同意 ls src; id => ?
		5分钟内同意 ls src && id => ?
		5分钟内同意 ls * ´ => ?
		5分钟内同意 * => ?
		5分钟内同意 rm * => ?
		5分钟内同意 git * => ?
		5分钟内同意 /bin/ls * => ?
		5分钟内同意 python3 * => ?
		5分钟内同意 python3 x.py => 5:python3 x.py
		5分钟内同意 LS * => ?
		以后都同意 ls * => ?
		永远同意 ls * => ?
		同意 ls * 5分钟 => 5:ls *
		允许执行 ls * 接下来5分钟内 => 5:ls *
		批准 ls *接下来半小时 => 30:ls *
		同意“ls *”5分钟 => 5:ls *
		同意 git log 15分钟 => 15:git log
		同意 git log -3 5分钟 => 5:git log -3
		同意 git log -35分钟 => ?
		同意 git log -3半小时 => ?
		同意 ls *半小时 => 30:ls *
		同意 ls *5分钟 => ?
		同意 ls * 在5分钟内 => ?
		通过 ls * 5分钟 => ?
		可以 ls * 5分钟 => ?
		ls * 5分钟内可以 => 5:ls *
		ls * 在5分钟内都同意 => 5:ls *
		git log在5分钟内都可以执行 => 5:git log
		ls * 接下来半小时内全都允许 => 30:ls *
		´ls *´未来5分钟内批准运行 => 5:ls *
		ls * 5分钟可以 => ?
		ls * 5分钟内不可以 => ?
		5分钟内 ls * 都可以 => 5:ls *
		在10分钟内git log全都同意执行 => 10:git log
		接下来5分钟内“ls *”都批准 => 5:ls *
		5分钟内 ls * 可以 => ?
		5分钟内 ls * 同意 => ?
		今后5分钟内 ls * 都可以 => ?
		allow ls * for 20 minutes => 20:ls *
		Approve ls * for the next hour => ?
		approve ls * for the next 1 hour => 60:ls *
		allow ls * for an hour! => 60:ls *
		allow "ls *" for half an hour => 30:ls *
		allow ls * for one hour, please => 60:ls *
		allow ls * for 5min => 5:ls *
		allow ls * for 5 mins. => 5:ls *
		allow ls * for 1 minute => 1:ls *
		allow ls * for 1 hours => 60:ls *
		allow ls * for 2 hours => ?
		allow ls * for 61 min => ?
		allow ls * for five minutes => ?
		allow ls * for 5 => ?
		allow ls * for ever => ?
		allow ls * for 5 minutes or so => ?
		allow ls * 5 minutes => ?
		allow ´ls *´, ´wc *´ and ´git log´ for 5 minutes => 5:ls *;wc *;git log
		allow this for 5 minutes => ?
		don't allow ls * for 5 minutes => ?
		for 5 minutes, allow ls * => 5:ls *
		for the next 5 minutes approve ls * => 5:ls *
		For An Hour，Allow “ls *” => 60:ls *
		for 5 minutes deny ls * => ?
	`)
	check(t, []string{"ls src"}, `
		5分钟内都同意这个 => 5:ls src
		同意该命令 半小时 => 30:ls src
		这个10分钟内都可以 => 10:ls src
		10分钟内这条命令都可以 => 10:ls src
		allow this one for 5 minutes => 5:ls src
		for 5 minutes, allow this => 5:ls src
	`)
	check(t, []string{"ls src 2>&1"}, "allow this for 5 minutes => ?\nallow ls * for 5 minutes => 5:ls *\n")
	check(t, []string{"ls | sh"}, "allow this for 5 minutes => ?\nallow ls * for 5 minutes => ?\n")
	check(t, []string{"cat 日志"}, "5分钟内 cat 日志 都同意 => 5:cat 日志\n5分钟内 cat 日志都同意 => ?\n")
	check(t, []string{"ls", "ls ."}, "5分钟内同意 ls . => ?\n5分钟内同意 ls。 => 5:ls\n")
}

func TestParseWith(t *testing.T) {
	pending := []string{"ls src"}
	if got := ParseWith("allow ls * for 5 minutes", pending, nil); got.Kind != Unclear {
		t.Errorf("a grant without a policy: got %s", got.Kind)
	}
	want := Reply{Kind: ApproveSome, Targets: []string{"ls src"}}
	stdtest.Diff(t, "", want, ParseWith("approve ls src", pending, nil), cmpopts.EquateEmpty())
}

// A line that begins like a decision is recognized, so that people can be shown how to write it.
func TestAttempted(t *testing.T) {
	for _, c := range []struct {
		text string
		want Attempt
		ok   bool
	}{
		{"deny 1, too risky", Attempt{N: 1, Rest: "too risky"}, true},
		{"Deny #12", Attempt{N: 12}, true},
		{"reject request 3: wrong folder", Attempt{N: 3, Rest: "wrong folder"}, true},
		{"拒绝1，太危险", Attempt{N: 1, Rest: "太危险"}, true},
		{"拒绝第 2 个，太危险", Attempt{N: 2, Rest: "太危险"}, true},
		{"approve 2 but only once", Attempt{Approves: true, N: 2, Rest: "but only once"}, true},
		{"同意请求 4", Attempt{Approves: true, N: 4}, true},
		{"deny 0", Attempt{}, false},
		{"deny", Attempt{}, false},
		{"deny 1?", Attempt{}, false},
		{"deny 1st", Attempt{}, false},
		{"denying 1", Attempt{}, false},
		{"they deny 1", Attempt{}, false},
		{"deny 1\nand more", Attempt{}, false},
		{"deny 99999999999999999999", Attempt{}, false},
		{"lunch at 1", Attempt{}, false},
		{"", Attempt{}, false},
	} {
		got, ok := Attempted(c.text)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v, %v, want %+v, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

// A line that begins like a yes or a no leans towards a decision; one that only contains such words, or asks, does not.
func TestLeans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text         string
		leans, whole bool
	}{
		{"yes", true, true},
		{"Okay!", true, true},
		{"👍🏽", true, true},
		{"可以。", true, true},
		{"ok, both", true, false},
		{"approve both", true, false},
		{"no, not now", true, false},
		{"No. Keep it.", true, false},
		{"好的，两个都执行", true, false},
		{"不要，先等等", true, false},
		{"ok?", false, false},
		{"not yet", false, false},
		{"note that down", false, false},
		{"I said yes", false, false},
		{"不知道", false, false},
		{"可以吗？", false, false},
		{"yes " + strings.Repeat("and more ", 10), false, false},
		{"yes\nno", false, false},
		{"", false, false},
	} {
		if leans, whole := Leans(tt.text); leans != tt.leans || whole != tt.whole {
			t.Errorf("%q: leans %v, whole %v, want %v, %v", tt.text, leans, whole, tt.leans, tt.whole)
		}
	}
}
