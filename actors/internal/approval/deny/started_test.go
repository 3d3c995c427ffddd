package deny

import "testing"

// startedByOthers are commands that start sudo in a way that only the program that starts it shows.
const startedByOthers = `
	rg --pre sudo x
	rg --pre=sudo x
	rg --hostname-bin sudo x
	ag --pager 'sudo id' x
	ag --pager sudo x
	ack --pager='sudo id' x
	tar -I sudo -xf x
	tar -xI sudo -f x
	tar -Isudo -xf x
	tar -I /usr/bin/sudo -xf x
	tar xfI x sudo
	tar xfI x $y
	tar -I $y -xf x
	tar -I"$y" -xf x
	tar --checkpoint=1 --checkpoint-action=exec=$y -cf x y
	rsync --rsh=$y a b:c
	timeout 5 tar -Isudo -xf x
	timeout 5 man -Hsudo ls
	setsid env -S 'sudo\_id'
	make -f - <<< 'x:;/usr/bin/sud?'
	x='a[$('"$y"')]'; echo $((x))
	tar --use-comp sudo -xf x
	tar --checkpoint=1 --checkpoint-action=exec=sudo -cf x y
	tar --checkpoint=1 --checkpoint-action=exec='sudo id' -cf x y
	rsync -e sudo a b:c
	rsync -ave sudo a b:c
	rsync --rsh 'sudo id' a b:c
	scp -S sudo a b:c
	sftp -S sudo b
	scp -o ProxyCommand=sudo a b:c
	scp -o 'ProxyCommand sudo' a b:c
	zip x y -T -TT sudo
	less +'!sudo id' x
	less '+!sudo' x
	more +'|$sudo' x
	man -Hsudo ls
	man -H/usr/bin/sudo ls
	man -P sudo ls
	sort --compress-program sudo f
	install -s --strip-program sudo a b
	svn diff --diff-cmd sudo
	hg clone -e sudo a b
	git grep -Osudo x
	git clone -u sudo x
	git clone --upload-pack sudo x
	git config core.pager sudo
	git config alias.x '!sudo id'
	git -c protocol.ext.allow=always clone 'ext::sudo id'
	git -c protocol.ext.allow=always clone ext::sudo
	git -c alias.x='!f() { sudo id; }; f' x
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!sudo id' git x
	GIT_CONFIG_PARAMETERS="'alias.x=!sudo id'" git x
	GIT_SSH_COMMAND=sudo git fetch
	X='!sudo id' git --config-env=alias.x=X x
	gcc -wrapper sudo,id -c x.c
	ccache clang++ -wrapper env,sudo,id -c x.c
	bash -ic "bind -x '\"x\":sudo id'"
	bind -x '"x":sudo id'
	gcc -wrapper , sudo
	hash -p /usr/bin/sudo x; x id
	BASH_CMDS[x]=/usr/bin/sudo; x id
	PS4='$(sudo id)'; set -x; true
	PS4='\044(sudo id)'; set -x; true
	PS4=\$\(sudo\ id\); set -x; true
	export PS4='$(sudo id)'; set -x; true
	export 'PS4=$(sudo id)'; set -x; true
	export PAGER=sudo; git log
	export "PAGER=sudo"; git log
	PAGER=sudo; git log
	declare -x PAGER=sudo; git log
	read PS4 <<< '$(sudo id)'; set -x; true
	for PS4 in '$(sudo id)'; do set -x; true; done
	x='$(sudo id)'; echo "${x@P}"
	echo "${x@P}"
	x='a[$(sudo id)]'; echo $((x))
	x=('a[$(sudo id)]'); echo $((x))
	printf -v 'a[$(sudo id)]' x
	printf -v a[\$\(sudo\ id\)] x
	test -v 'a[$(sudo id)]'
	[ -v 'a[$(sudo id)]' ]
	[[ -v 'a[$(s\udo id)]' ]]
	let 'a[$(sudo id)]'
	let 'a[$(s\udo id)]' b
	read 'a[$(sudo id)]'
	read 'a[` + "`sudo id`" + `]'
	unset 'a[$(sudo id)]'
	wait -p 'a[$(sudo id)]' -n
	env -S 'sudo\_id'
	env '-Ssudo id'
	env -vS 'sudo id'
	find /usr/bin/sudo -exec {} id \;
	find /usr/bin/sudo -exec env {} id \;
	find . -exec sh -c {} \;
	find . -exec sh -c 'x; {}' \;
	fd sudo /usr/bin -x {}
	fd sudo /usr/bin -x env
	echo sudo id | xargs env
	echo sudo id | xargs nice -n 5
	echo sudo id | xargs -I{} sh -c {}
	echo sudo id | xargs -I% sh -c '%'
	echo sudo id | xargs sh -c
	echo sudo | xargs -I{} {} id
	xargs -a f env
	echo 'sudo id' | parallel
	ssh -o ProxyCommand=sudo h
	ssh -o 'ProxyCommand sudo id' h
	ssh -oProxyCommand=sudo h
	echo 'sudo id' | ssh h
	ssh h <<< 'sudo id'
	ssh h <<E⏎sudo id⏎E
	at now <<< 'sudo id'
	python3 <<E⏎import os; os.system("sudo id")⏎E
	echo 'import os; os.system("sudo id")' | python3
	make -f - <<< 'x:;sudo id'
	make SHELL=sudo
	make SHELL=/usr/bin/sudo x
	make --eval='x:;sudo id'
	echo 'sudo id' | { sh; }
	echo 'sudo id' | (sh)
	{ sh; } <<< 'sudo id'
	( sh ) < f
	printf '\163udo id' | sh
	echo -e '\x73udo id' | sh
	printf '%s%s id' su do | sh
	sed '1esudo id' f
	sed -e '1!esudo id' f
	awk 'BEGIN { system("sudo id") }'
	vim -c '!sudo id' f
	vim +'!sudo' f
	python3 -c 'import os; os.execlp("sudo", "sudo")'`

func TestRefusesWhatOtherProgramsStart(t *testing.T) {
	rules := NewRules([]string{"sudo *"})
	for _, command := range list(startedByOthers) {
		if _, refused := rules.Refuses(command); !refused {
			t.Errorf("%q runs", command)
		}
	}
}

// Names of programs in data are harmless, also where other options of the same program start programs.
func TestLetsDataNameAProgram(t *testing.T) {
	rules := NewRules([]string{"sudo *", "rm *", "curl *"})
	for _, command := range list(`
		echo sudo
		printf '%s' "sudo"
		printf '%s\n' sudo rm
		printf -v x '%s' sudo
		git commit -m "sudo"
		git commit -m "fix: push of empty lists"
		git commit -am sudo
		git log --grep sudo
		git push -u origin main
		git grep -n sudo
		git config user.name x
		git rm --cached f
		grep sudo file
		grep -rn sudo .
		rg sudo src
		rg -n sudo src
		rg -e sudo -g '*.go'
		ag sudo
		ack --go sudo
		test sudo = x
		[ "$x" = sudo ]
		[ -n "$x" ] && echo yes
		read -r sudo
		unset rm
		set -- sudo rm
		hash -r
		let x=1+2
		x=5; echo $((x + 1))
		x=hello
		export PATH=/usr/bin:$PATH
		export GOFLAGS=-mod=mod
		declare -A seen
		local x=1
		rm=1
		x="$(date)"; echo "$x"
		echo '$(date)'
		apt-get install -y curl
		brew install --cask curl
		pip install -U curl
		dnf install -y sudo
		man sudo
		man -k sudo
		less -N sudo
		less +G log
		ls -l sudo
		cp -r sudo backup
		mv -f curl x
		chmod -R 755 sudo
		tar -czf sudo.tgz sudo
		tar czf sudo.tgz sudo
		tar -xzf x.tgz -C rm
		rsync -av sudo backup/
		scp -r sudo h:
		zip -r x.zip sudo
		sort -u sudo
		sort -t, -k2 sudo
		find . -name sudo -exec grep -l x {} +
		find . -exec sh -c 'ls "$1"' _ {} \;
		find . -exec env LC_ALL=C grep x {} \;
		ls | xargs -n1 echo
		ls | xargs -I{} cp {} backup
		ls | xargs env LC_ALL=C grep x
		cat data | python3 script.py
		cat f | ssh h 'cat > f'
		python3 <<E⏎print("x")⏎E
		cat > x <<'E'⏎sudo id⏎E
		cat <<< sudo
		echo 'ls' | { cat; }
		printf 'ls\n' | sh
		printf '%s\n' 'ls' | sh
		echo x | (cat)
		sed -n 1p error.log
		sed -e 's/x/y/' -i error.log
		sed 's/a/ error/' f
		make -j4 CFLAGS=-O2 all
		`) {
		if r, refused := rules.Refuses(command); refused {
			t.Errorf("%q is refused by %q, unknown %v", command, r.Rule, r.Unknown)
		}
	}
}
