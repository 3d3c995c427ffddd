package main_test

import "testing"

// TestPictures plays what the pictures of docs/images show, with the real binary in a
// real browser: a request that outlives the host, both decisions, an upload that is taken
// and one that is refused, a new title, and the deletion of the chat. With PICTURES set
// to a folder the pictures are left there, which docs/images/screenshot.sh does.
func TestPictures(t *testing.T) {
	node, browser := needNode(t), needBrowser(t)
	for language, part := range map[string]map[string][]string{
		"en": {
			"Please put watering the roses on Friday on my list.": {
				`I will add it to your list.|#write_file {"path":"garden.md","content":"# Garden\n\n- Friday: water the roses\n"}`,
				"Done: your list now has **Friday: water the roses**.",
			},
			"And empty the list of last year.": {
				`I will empty it.|#write_file {"path":"garden-2025.md","content":""}`,
				"@decided|All right, I left the list of last year as it is.",
			},
			"What do you see?": {"Three red dots on a light ground: they could be roses in a bed."},
		},
		"zh": {
			"请把“周五给玫瑰浇水”加到我的清单里。": {
				`我来加到清单里。|#write_file {"path":"garden.md","content":"# 花园\n\n- 周五：给玫瑰浇水\n"}`,
				"好了，清单里已有**周五：给玫瑰浇水**。",
			},
			"再清空去年的清单。": {
				`我来清空它。|#write_file {"path":"garden-2025.md","content":""}`,
				"@decided|好的，去年的清单保持不变。",
			},
			"你看到了什么？": {"浅色背景上有三个红点，可能是花坛里的玫瑰。"},
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, `, "name": "Garden", "limits": {"fileMB": 1}`)
			w.model.learn(part)
			play(t, node, "pictures", w, "SDK="+clientSDK, "CHROMIUM="+browser, "PAGE_LANGUAGE="+language)
		})
	}
}
