package browsertest

// Payloads returns texts that run, load or change something on a page that takes them for anything but text: each
// script among them counts up the variable hit.
func Payloads() []string {
	return []string{
		`<script>hit++</script>`, `<img src=x onerror="hit++">`, `<svg onload="hit++"></svg>`, `<svg><script>hit++</script></svg>`,
		`<iframe srcdoc="<script>parent.hit++</script>"></iframe>`, `<a href="javascript:hit++">x</a>`, `[x](javascript:hit++)`, `[x](JaVaScRiPt:hit++)`,
		`[x]( javascript:hit++)`, `[x](data:text/html,<script>hit++</script>)`, `[x](vbscript:hit)`, `![x](https://evil.example/a.png)`,
		`<img src="https://evil.example/b.png">`, `<style>@import 'https://evil.example/c.css';</style>`, `<link rel=stylesheet href=https://evil.example/d.css>`,
		`<base href="https://evil.example/">`, `<meta http-equiv=refresh content="0;url=https://evil.example/">`, `<form action=https://evil.example><input name=x autofocus onfocus=hit++></form>`,
		`<details open ontoggle=hit++>`, `<video src=x onerror=hit++></video>`, `<audio src=x onerror=hit++>`, `<object data=x onerror=hit++>`, `<embed src=javascript:hit++>`,
		`<math><mtext><script>hit++</script></mtext></math>`, `<body onload=hit++>`, `"><script>hit++</script>`, `'><img src=x onerror=hit++>`,
		"```html\n<script>hit++</script>\n```", "`<img src=x onerror=hit++>`", "```\"onclick=hit++\nx\n```", `> <script>hit++</script>`, `- <img src=x onerror=hit++>`,
		`# <svg onload=hit++>`, `**<img src=x onerror=hit++>**`, `https://example.org/"onmouseover="hit++`, `[a](https://example.org/"onmouseover=hit++)`,
		`&lt;script&gt;hit++&lt;/script&gt;`, `<scr<script>ipt>hit++</script>`, `javascript:hit++`, "\u202e<script>hit++</script>", `{{constructor.constructor('hit++')()}}`,
		`<template><script>hit++</script></template>`, `<xmp><img src=x onerror=hit++></xmp>`, `file:///etc/passwd`,
	}
}
