package models

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// Text shows the models that settings name.
func Text(a *console.Console, rows []Row) string {
	var out strings.Builder
	for _, r := range rows {
		r.text(a, &out)
	}
	return out.String()
}

func (r Row) text(a *console.Console, out *strings.Builder) {
	line := func(english, chinese, value string, members ...string) {
		if value == "" {
			return
		}
		var from []string
		for _, m := range members {
			if o := a.Words(r.Origins[m]); o != "" && !slices.Contains(from, o) {
				from = append(from, o)
			}
		}
		if len(from) > 0 {
			value += a.Text(" (", "（") + strings.Join(from, "; ") + a.Text(")", "）")
		}
		fmt.Fprintf(out, a.Text("  %-9s %s\n", "  %s：%s\n"), a.Text(english, chinese), value)
	}
	fmt.Fprintf(out, a.Text("%s: %s\n", "%s：%s\n"), roleText(a, r.Role), r.Name)
	line("named by", "出处", a.Words(r.Origins["name"]))
	line("provider", "提供商", r.Provider, "provider")
	line("api", "协议", r.API, "api")
	line("address", "地址", r.Address, "address")
	line("window", "窗口", tokensText(a, r.ContextWindow), "contextWindow")
	line("output", "输出", tokensText(a, r.MaxOutputTokens), "maxOutputTokens")
	takes, of := abilities(a, true, r.Images, r.Files, r.Tools)
	line("takes", "支持", takes, of...)
	lacks, of := abilities(a, false, r.Images, r.Files, r.Tools)
	line("takes no", "不支持", lacks, of...)
	line("thinking", "思考", thinkingText(a, r.Thinking), "thinking")
	line("price", "价格", priceText(a, r.USDPerMillion), "usdPerMillion")
	if r.Catalog != nil {
		line("known", "数据", r.Catalog.AsOf+", "+r.Catalog.Source.Source)
		line("note", "备注", r.Catalog.Note)
	}
	switch {
	case r.Provider == config.ProviderDemo:
		line("hint", "提示", a.Text("not a real assistant; set OPENAI_API_KEY or llm.model for a real one", "不是真正的助手；设置 OPENAI_API_KEY 或 llm.model 即可使用真实模型"))
	case r.Catalog == nil && r.API != "":
		line("hint", "提示", fmt.Sprintf(a.Text("the catalog does not know it: set contextWindow and prices in llm.models.%s if you know them; sma models --all lists what is known",
			"目录中没有这个模型：如果知道，请在 llm.models.%s 中设置 contextWindow 和价格；sma models --all 列出已知的模型"), r.Name))
	}
}

func roleText(a *console.Console, role string) string {
	kind, which, _ := strings.Cut(role, " ")
	chinese := map[string]string{roleMain: "主模型", roleEmbeddings: "向量模型", roleTranscribe: "语音转文字", roleSpeak: "文字转语音"}[role]
	switch kind {
	case "fallback":
		chinese = "备用模型 " + which
	case "choice":
		chinese = "可选模型 " + which
	}
	return a.Text(role, chinese)
}

func tokensText(a *console.Console, n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + a.Text(" tokens", " token")
}

// abilities are the words for what a model takes, or for what it does not take, with the members that say so. What is
// unknown is neither.
func abilities(a *console.Console, takes bool, images, files, tools *bool) (words string, members []string) {
	var list []string
	for _, ability := range []struct {
		has          *bool
		member, word string
	}{{images, "images", a.Text("images", "图片")}, {files, "files", "PDF"}, {tools, "tools", a.Text("tools", "工具")}} {
		if ability.has != nil && *ability.has == takes {
			list, members = append(list, ability.word), append(members, ability.member)
		}
	}
	return strings.Join(list, a.Text(", ", "、")), members
}

func thinkingText(a *console.Console, t *catalog.Thinking) string {
	if t == nil {
		return ""
	}
	var parts []string
	if len(t.Efforts) > 0 {
		parts = append(parts, strings.Join(t.Efforts, ", "))
	}
	if t.Default != "" {
		parts = append(parts, a.Text("by default ", "默认 ")+t.Default)
	}
	if b := t.Budget; b != nil && b.Max > 0 {
		parts = append(parts, fmt.Sprintf(a.Text("a budget of %d to %d tokens", "预算 %d 到 %d token"), b.Min, b.Max))
	} else if b != nil {
		parts = append(parts, fmt.Sprintf(a.Text("a budget of at least %d tokens", "预算至少 %d token"), b.Min))
	}
	if t.Always {
		parts = append(parts, a.Text("always", "始终开启"))
	}
	if len(parts) == 0 {
		return a.Text("yes", "是")
	}
	return strings.Join(parts, a.Text("; ", "；"))
}

func priceText(a *console.Console, p *catalog.Prices) string {
	if p == nil {
		return ""
	}
	text := fmt.Sprintf(a.Text("USD per million tokens: %s", "每百万 token 美元：%s"), pricesText(a, p.Input, p.Cached, p.CacheWrite, p.Output))
	if o := p.Over; o != nil {
		text += fmt.Sprintf(a.Text("; over %d tokens of input: %s", "；输入超过 %d token：%s"), o.Tokens, pricesText(a, o.Input, o.Cached, o.CacheWrite, o.Output))
	}
	return text
}

func pricesText(a *console.Console, input, cached, cacheWrite, output float64) string {
	var parts []string
	for _, price := range []struct {
		usd  float64
		word string
	}{{input, a.Text("input", "输入")}, {cached, a.Text("cached", "缓存读取")}, {cacheWrite, a.Text("cache write", "缓存写入")}, {output, a.Text("output", "输出")}} {
		if price.usd > 0 {
			parts = append(parts, number(price.usd)+" "+price.word)
		}
	}
	return strings.Join(parts, a.Text(", ", "、"))
}

func number(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }

// Matching are the entries of the catalog whose name or provider has the text in it, or matches it as a pattern with *.
// If there are none, it is the entry of the model of this name.
func Matching(text string) []catalog.Model {
	text = strings.ToLower(text)
	var out []catalog.Model
	for _, m := range catalog.Models() {
		fits, _ := path.Match(text, m.Name) // a broken pattern is a text
		if fits || strings.Contains(m.Name, text) || m.Provider == text {
			out = append(out, m)
		}
	}
	if m, ok := catalog.Find("", text); ok && len(out) == 0 {
		out = slices.DeleteFunc(slices.Clone(catalog.Models()), func(c catalog.Model) bool { return c.Name != m.Name || c.Provider != m.Provider })
	}
	return out
}

// CatalogText shows entries of the catalog, one a line.
func CatalogText(a *console.Console, entries []catalog.Model) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0) // it writes to memory, which cannot fail
	_, _ = fmt.Fprintln(w, a.Text("model\tprovider\tapi\twindow\toutput\ttakes\tUSD per million tokens\tas of", "模型\t提供商\t协议\t窗口\t输出\t支持\t每百万 token 美元\t截至"))
	for _, m := range entries {
		cells := []string{m.Name, m.Provider, string(m.Protocol()), strconv.Itoa(m.ContextWindow), strconv.Itoa(m.MaxOutputTokens), "", "", m.AsOf}
		cells[5], _ = abilities(a, true, m.Images, m.Files, m.Tools)
		if m.USD != nil {
			cells[6] = pricesText(a, m.USD.Input, m.USD.Cached, m.USD.CacheWrite, m.USD.Output)
		}
		for i, cell := range cells {
			if cell == "" || cell == "0" {
				cells[i] = "-"
			}
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush()
	return out.String()
}
