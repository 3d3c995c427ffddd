package anthropic

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestMarks shows where a request is cacheable: the texts before each mark among the messages.
func TestMarks(t *testing.T) {
	said := func(role string, from, to int) string {
		var list []string
		for i := from; i <= to; i++ {
			list = append(list, fmt.Sprintf(`{"role":%q,"content":"%s-%d"}`, role, role, i))
		}
		return strings.Join(list, ",")
	}
	many := `{"role":"assistant","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 30) + `{"type":"text","text":"a"}]}`
	for _, tt := range []struct {
		name, messages string
		want           []string
	}{
		{"one message", said("user", 1, 1), []string{"user-1"}},
		{"fewer blocks than the service looks back", said("user", 1, 17), []string{"user-17"}},
		{"more blocks", said("user", 1, 40), []string{"user-36", "user-40"}},
		{"the mark stays while the chat grows", said("user", 1, 53), []string{"user-36", "user-53"}},
		{"a message of many blocks", said("user", 1, 1) + "," + many + "," + said("user", 2, 2), []string{"a", "user-2"}},
		{"a summary", `{"role":"assistant","content":"summary"},` + said("user", 1, 40), []string{"summary", "user-40"}},
		{"nothing but a summary", `{"role":"assistant","content":"summary"}`, []string{"summary"}},
		{"an empty message at the end", said("user", 1, 2) + `,{"role":"assistant","content":" "}`, []string{"user-2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := written(t, newProtocol(Options{}), requestOf(t, "["+tt.messages+"]"))
			var got []string
			pieces := strings.Split(body, `"`+cacheMark)
			for _, piece := range pieces[:len(pieces)-1] {
				got = append(got, piece[strings.LastIndexByte(piece, '"')+1:])
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("marks behind (-want +got):\n%s", diff)
			}
		})
	}
}
