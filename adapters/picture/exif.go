package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is what the header of a JPEG image says that its decoder does not.
type orientation struct {
	turn        int // 1 to 8, as EXIF counts them
	progressive bool
}

const (
	markerSOF2 = 0xC2
	markerSOS  = 0xDA
	markerAPP1 = 0xE1
)

// jpegHeader walks the segments before the image data. What cannot be read is upright.
func jpegHeader(data []byte) orientation {
	out := orientation{turn: 1}
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker := data[at+1]
		if marker == 0xff { // fill bytes
			at++
			continue
		}
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == markerSOS || size < 2 || at+2+size > len(data) {
			break
		}
		body := data[at+4 : at+2+size]
		if marker == markerSOF2 {
			out.progressive = true
		}
		if exif, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok && marker == markerAPP1 {
			if turn := exifTurn(exif); turn != 0 {
				out.turn = turn
			}
		}
		at += 2 + size
	}
	return out
}

// exifTurn finds the orientation in the first directory of EXIF data; 0: it has none.
func exifTurn(tiff []byte) int {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	const entry = 12
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 0
	}
	entries := int64(order.Uint16(tiff[at:]))
	for i := range entries {
		from := at + 2 + i*entry
		if from+entry > int64(len(tiff)) {
			return 0
		}
		const tagOrientation, typeShort = 0x0112, 3
		e := tiff[from:]
		if order.Uint16(e) != tagOrientation || order.Uint16(e[2:]) != typeShort {
			continue
		}
		if turn := int(order.Uint16(e[8:])); turn >= 1 && turn <= 8 {
			return turn
		}
		return 0
	}
	return 0
}

// upright is the image as it is meant to be seen.
func upright(img *image.RGBA, turn int) *image.RGBA {
	if turn <= 1 || turn > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if turn >= 5 { // on its side
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			var tx, ty int
			switch turn {
			case 2:
				tx, ty = w-1-x, y
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				tx, ty = x, h-1-y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			out.SetRGBA(tx, ty, img.RGBAAt(x, y))
		}
	}
	return out
}
