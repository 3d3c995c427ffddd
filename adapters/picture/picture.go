// Package picture makes of image files what models are shown: JPEG pictures of a bounded
// size, upright, without the metadata of the original, which may say where it was taken.
// PDF documents are taken as they are.
//
// What is decoded may come from anybody. The size of the decoded image is computed from
// the header and bounded before the first pixel is decoded, one image at a time is decoded
// by the whole host, and a decoder that panics is an unreadable image.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif" // the first frame
	"image/jpeg"
	_ "image/png" // drawings and pictures of screens
	"io"

	_ "golang.org/x/image/webp" // pictures that do not move
)

const (
	// MaxSource is the largest file that is decoded, in bytes.
	MaxSource = 32 << 20
	// MaxPDF is the largest document that is given to a model, in bytes.
	MaxPDF = 8 << 20
	// maxPixels and maxDecoded bound a decoded image.
	maxPixels  = 50_000_000
	maxDecoded = 256 << 20
	// MaxSide is the longest side of a picture; larger images are scaled down.
	MaxSide = 1568
	quality = 85
)

// Errors of files that do not become pictures.
var (
	// ErrNone: the file is neither an image of a known format nor a PDF document.
	ErrNone = errors.New("it is not an image that can be shown")
	// ErrTooLarge: the file, or the image in it, is too large.
	ErrTooLarge = errors.New("the image is too large to be shown")
)

// Picture is an image that is ready to be shown.
type Picture struct {
	JPEG          []byte
	Width, Height int
}

// Is reports whether the beginning of a file is that of an image that can be decoded.
func Is(head []byte) bool { return format(head) != "" }

// IsPDF reports whether the beginning of a file is that of a PDF document.
func IsPDF(head []byte) bool { return bytes.HasPrefix(head, []byte("%PDF-")) }

func format(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "jpeg"
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "png"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "webp"
	}
	return ""
}

// Maker makes pictures. It is safe for concurrent use, and one serves the whole host.
type Maker struct{ slot chan struct{} }

// NewMaker returns a maker.
func NewMaker() *Maker { return &Maker{slot: make(chan struct{}, 1)} }

// Make reads an image and makes a picture of it. It waits until no other is decoded.
func (m *Maker) Make(ctx context.Context, src io.Reader) (Picture, error) {
	select {
	case m.slot <- struct{}{}:
		defer func() { <-m.slot }()
	case <-ctx.Done():
		return Picture{}, context.Cause(ctx)
	}
	data, err := io.ReadAll(io.LimitReader(src, MaxSource+1))
	switch {
	case err != nil:
		return Picture{}, fmt.Errorf("read an image: %w", err)
	case len(data) > MaxSource:
		return Picture{}, ErrTooLarge
	}
	return decode(data)
}

// decode makes a picture of the bytes of a file.
func decode(data []byte) (out Picture, err error) {
	defer func() {
		if recover() != nil { // a fault of a decoder
			out, err = Picture{}, ErrNone
		}
	}()
	kind := format(data)
	if kind == "" {
		return Picture{}, ErrNone
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || cfg.Width <= 0 || cfg.Height <= 0 {
		return Picture{}, ErrNone
	}
	exif := orientation{turn: 1}
	if kind == "jpeg" {
		exif = jpegHeader(data)
	}
	pixels := int64(cfg.Width) * int64(cfg.Height)
	if pixels > maxPixels || pixels*bytesPerPixel(cfg.ColorModel, exif.progressive) > maxDecoded {
		return Picture{}, ErrTooLarge
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Empty() {
		return Picture{}, ErrNone
	}
	small := upright(scaled(img), exif.turn)
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, small, &jpeg.Options{Quality: quality}); err != nil {
		return Picture{}, fmt.Errorf("encode a picture: %w", err)
	}
	size := small.Bounds().Size()
	return Picture{JPEG: buf.Bytes(), Width: size.X, Height: size.Y}, nil
}

// bytesPerPixel is what decoding takes at most. Progressive JPEG images are held as
// coefficients of four bytes for each of three samples beside the image.
func bytesPerPixel(m color.Model, progressive bool) int64 {
	switch {
	case progressive:
		return 15
	case m == color.RGBA64Model, m == color.NRGBA64Model:
		return 8
	}
	return 4
}

// scaled is the image on white, with no side longer than [MaxSide]. In a smaller image each pixel is the average of the
// area that it stands for, which keeps small text legible. The large image is drawn one row at a time, to save memory.
func scaled(img image.Image) *image.RGBA {
	from := img.Bounds()
	w, h := fitted(from.Dx(), from.Dy())
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if from.Dx() == w && from.Dy() == h {
		onWhite(out, img, from.Min)
		return out
	}
	row := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	across, sums := make([]int, 3*w), make([]int, 3*w)
	for y := range from.Dy() {
		onWhite(row, img, image.Pt(from.Min.X, from.Min.Y+y))
		clear(across)
		for x := range from.Dx() {
			overlaps(x, from.Dx(), w, func(to, share int) {
				for c := range 3 {
					across[3*to+c] += share * int(row.Pix[4*x+c])
				}
			})
		}
		overlaps(y, from.Dy(), h, func(to, share int) {
			for i, v := range across {
				sums[i] += share * v
			}
			if (y+1)*h < (to+1)*from.Dy() {
				return
			}
			line := out.Pix[to*out.Stride:]
			for x := range w {
				for c := range 3 {
					line[4*x+c] = uint8(sums[3*x+c] / (from.Dx() * from.Dy())) //nolint:gosec // an average of bytes
				}
				line[4*x+3] = 0xff
			}
			clear(sums)
		})
	}
	return out
}

// overlaps calls add for each of the to pixels that a pixel of a line of from overlaps, with its share. The shares of
// a pixel of the new line add up to from.
func overlaps(pixel, from, to int, add func(into, share int)) {
	begin, end := pixel*to, (pixel+1)*to
	for into := begin / from; into*from < end; into++ {
		add(into, min(end, (into+1)*from)-max(begin, into*from))
	}
}

func onWhite(out *image.RGBA, img image.Image, at image.Point) {
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, at, draw.Over)
}

// fitted is a size with the same proportions and no side longer than [MaxSide].
func fitted(w, h int) (int, int) {
	long := max(w, h)
	if long <= MaxSide {
		return w, h
	}
	return max(1, w*MaxSide/long), max(1, h*MaxSide/long)
}
