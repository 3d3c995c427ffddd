package console

import (
	"strings"

	"rsc.io/qr"
)

// QRCode is a QR code in half-block characters, or "" if the text is too long for one.
func QRCode(text string) string {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return ""
	}
	const quiet = 2
	var out strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			switch up, down := code.Black(x, y), code.Black(x, y+1); {
			case up && down:
				out.WriteRune(' ')
			case up:
				out.WriteRune('▄')
			case down:
				out.WriteRune('▀')
			default:
				out.WriteRune('█')
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}
