package replay

import "fmt"

// fact is something that somebody says once, and the question that it answers.
type fact struct{ text, question string }

// factsOf are facts for one room: of each kind the same number, all different.
func factsOf(room, each int) (out []fact) {
	for i := range each {
		n := room*each + i
		f := filler{n}
		for _, kind := range []func(filler) fact{
			decision, amount, spareKey, invoice, address, taste, chineseDecision, chineseAmount, allergy, spelling,
		} {
			out = append(out, kind(f))
		}
	}
	return out
}

// filler has the names, dates and numbers of the nth fact of each kind.
type filler struct{ n int }

func (f filler) of(list ...string) string { return list[f.n%len(list)] }

func (f filler) project() string {
	return f.of("Orion", "Meridian", "Kestrel", "Juniper", "Halcyon", "Basalt", "Tamarind", "Quillon", "Verbena", "Saffron", "Borealis")
}

func (f filler) person() string {
	return f.of("Marguerite", "Tobias", "Anneliese", "Ravindra", "Oluwaseun", "Katarzyna", "Benedikt", "Yevgenia", "Thaddeus")
}

func (f filler) date() string { return fmt.Sprintf("20%02d-%02d-%02d", 31+f.n%40, 1+f.n%12, 1+f.n%28) }

func (f filler) chineseProject() string {
	return f.of("猎户座", "昆仑", "青鸟", "金丝雀", "长风", "北斗星", "夜莺", "白鹭", "望舒", "飞鱼", "赤松")
}

func (f filler) chinesePerson() string {
	return f.of("欧阳雪", "司徒明", "诸葛琳", "慕容川", "上官洁", "尉迟峰", "端木青", "公孙岚", "令狐远")
}

func decision(f filler) fact {
	return fact{
		fmt.Sprintf("ok so it is decided: the %s rollout moves to %s and %s signs it off", f.project(), f.date(), f.person()),
		fmt.Sprintf("when does the %s rollout happen", f.project()),
	}
}

func amount(f filler) fact {
	return fact{
		fmt.Sprintf("btw the budget for %s is %d euro, not a cent more", f.project(), 10_000+137*f.n),
		fmt.Sprintf("what is the budget for %s", f.project()),
	}
}

func spareKey(f filler) fact {
	place := f.of("boathouse", "greenhouse", "observatory", "windmill", "lighthouse", "brewery", "archive room", "print shop", "pigeon loft")
	return fact{
		fmt.Sprintf("%s keeps the spare key for the %s, call %s %d", f.person(), place, "+49 30", 5_550_000+f.n),
		fmt.Sprintf("who has the spare key for the %s?", place),
	}
}

func invoice(f filler) fact {
	id := fmt.Sprintf("INV-%d-%04d", 2031+f.n%9, 17+3*f.n)
	return fact{fmt.Sprintf("invoice %s from %s is paid, you can close it", id, f.person()), "has invoice " + id + " been paid already"}
}

func address(f filler) fact {
	host := f.of("woodpecker", "heron", "capercaillie", "lapwing", "nuthatch", "goshawk", "dipper", "wheatear", "siskin") + fmt.Sprint(f.n)
	return fact{
		fmt.Sprintf("since the move %s listens on 10.%d.7.%d:8443, config in /srv/%s/app.toml", host, f.n%200, 1+f.n%250, host),
		fmt.Sprintf("which address does %s listen on", host),
	}
}

func taste(f filler) fact {
	drink := f.of("lapsang souchong", "rooibos", "cold cider", "chicory", "sencha", "oolong", "birch sap", "maté", "kvass")
	return fact{
		fmt.Sprintf("remember that %s drinks only %s, never coffee, for the offsite", f.person(), drink),
		fmt.Sprintf("what does %s drink", f.person()),
	}
}

func chineseDecision(f filler) fact {
	return fact{
		fmt.Sprintf("我们决定把%s项目推迟到20%02d年%d月%d日上线，由%s负责", f.chineseProject(), 31+f.n%40, 1+f.n%12, 1+f.n%28, f.chinesePerson()),
		fmt.Sprintf("%s项目什么时候上线", f.chineseProject()),
	}
}

func chineseAmount(f filler) fact {
	return fact{
		fmt.Sprintf("%s这边的预算定为%d万元，超出要另外审批", f.chineseProject(), 120+7*f.n),
		fmt.Sprintf("%s的预算是多少", f.chineseProject()),
	}
}

func allergy(f filler) fact {
	food := f.of("花生", "虾", "芒果", "牛奶", "荞麦", "核桃", "螃蟹", "大豆", "鸡蛋")
	return fact{
		fmt.Sprintf("%s对%s过敏，订餐的时候记得避开", f.chinesePerson(), food),
		fmt.Sprintf("%s对什么过敏？", f.chinesePerson()),
	}
}

func spelling(f filler) fact {
	name := f.of("Łukasiewicz", "Þórarinsdóttir", "Nguyễn", "Çelebioğlu", "Škvorecký", "Saint-Exupéry", "Ångström", "Ñañez", "Żółkiewski")
	return fact{
		fmt.Sprintf("the visitor's name is spelled %s-%d on the badge, mail badge%d@example.org", name, 40+f.n, f.n),
		fmt.Sprintf("how is the name %s-%d spelled on the badge", name, 40+f.n),
	}
}
