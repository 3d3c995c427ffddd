package messages

import "testing"

func TestNumbersAsPeopleTypeThem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{
		"2": 2, "#2": 2, "2.": 2, "２": 2, "２．": 2, "＃１２": 12, "12。": 12, "2147483647": 2147483647,
		"": 0, "0": 0, "-1": 0, "+1": 0, "1.5": 0, "2!": 0, "two": 0, "##2": 0, "#": 0, "2#": 0, "2147483648": 0, "1_0": 0, "0x2": 0,
	} {
		n, ok := NumberOf(word)
		if ok != (want > 0) || ok && n != want {
			t.Errorf("%q is the number %d, %t; want %d", word, n, ok, want)
		}
	}
}
