package host

import (
	"encoding/json"
	"strconv"
)

func showRich(param string) string {
	var m struct {
		HTML string `json:"html"`
	}
	if json.Unmarshal([]byte(param), &m) != nil {
		return ""
	}
	return " rich " + strconv.Quote(short(m.HTML))
}
