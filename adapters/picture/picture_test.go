package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// marked is an image whose upper left corner is red and whose rest is blue.
func marked(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{0, 0, 255, 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(0, 0, w/4, h/4), image.NewUniform(color.RGBA{255, 0, 0, 255}), image.Point{}, draw.Src)
	return img
}

func encoded(tb testing.TB, kind string, img image.Image) []byte {
	tb.Helper()
	var out bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&out, img)
	case "gif":
		err = gif.Encode(&out, img, nil)
	default:
		err = jpeg.Encode(&out, img, &jpeg.Options{Quality: 95})
	}
	stdtest.Must(tb, err)
	return out.Bytes()
}

// withEXIF puts an orientation and a place into a JPEG image.
func withEXIF(data []byte, order binary.ByteOrder, turn uint16) []byte {
	tiff := []byte("II*\x00\x08\x00\x00\x00")
	if order == binary.BigEndian {
		tiff = []byte("MM\x00*\x00\x00\x00\x08")
	}
	entry := make([]byte, 2+12+4)
	order.PutUint16(entry, 1)
	order.PutUint16(entry[2:], 0x0112)
	order.PutUint16(entry[4:], 3)
	order.PutUint32(entry[6:], 1)
	order.PutUint16(entry[10:], turn)
	body := append([]byte("Exif\x00\x00"), append(tiff, entry...)...)
	body = append(body, "GPS 48.8584 N 2.2945 E"...)
	segment := []byte{0xff, markerAPP1, 0, 0}
	binary.BigEndian.PutUint16(segment[2:], uint16(len(body)+2))
	return append(append(append([]byte{0xff, 0xd8}, segment...), body...), data[2:]...)
}

func TestPicturesAreUprightAndSayNoPlace(t *testing.T) {
	red := func(img image.Image, x, y int) bool { r, _, b, _ := img.At(x, y).RGBA(); return r > b }
	corners := map[uint16][2]int{1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}}
	for turn, corner := range corners {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			p, err := decode(withEXIF(encoded(t, "jpg", marked(160, 80)), order, turn))
			stdtest.Must(t, err)
			if w, h := 160, 80; turn >= 5 && (p.Width != h || p.Height != w) || turn < 5 && (p.Width != w || p.Height != h) {
				t.Errorf("turn %d: %dx%d", turn, p.Width, p.Height)
			}
			img, err := jpeg.Decode(bytes.NewReader(p.JPEG))
			stdtest.Must(t, err)
			for y := range 2 {
				for x := range 2 {
					want := x == corner[0] && y == corner[1]
					if got := red(img, 4+x*(p.Width-9), 4+y*(p.Height-9)); got != want {
						t.Errorf("turn %d, corner %d %d: red is %v, want %v", turn, x, y, got, want)
					}
				}
			}
			if bytes.Contains(p.JPEG, []byte("GPS")) || bytes.Contains(p.JPEG, []byte("Exif")) {
				t.Error("the picture says where it was taken")
			}
		}
	}
}

func TestPicturesAreBoundedAndReadable(t *testing.T) {
	glass := image.NewNRGBA(image.Rect(0, 0, 40, 40)) // black on nothing
	for x := 10; x < 30; x++ {
		glass.SetNRGBA(x, 20, color.NRGBA{0, 0, 0, 255})
	}
	tests := []struct {
		name          string
		data          []byte
		width, height int
		err           error
	}{
		{"small", encoded(t, "png", marked(30, 20)), 30, 20, nil},
		{"wide", encoded(t, "png", marked(4000, 100)), 1568, 39, nil},
		{"thin", encoded(t, "png", marked(8000, 1)), 1568, 1, nil},
		{"tall", encoded(t, "jpg", marked(1000, 3136)), 500, 1568, nil},
		{"gif", encoded(t, "gif", marked(50, 40)), 50, 40, nil},
		{"transparent", encoded(t, "png", glass), 40, 40, nil},
		{"text", []byte("hello"), 0, 0, ErrNone},
		{"cut", encoded(t, "jpg", marked(30, 20))[:100], 0, 0, ErrNone},
		{"bomb", bomb(t, 100_000, 100_000), 0, 0, ErrTooLarge},
		{"just too large", bomb(t, 10_000, 5_001), 0, 0, ErrTooLarge},
		{"empty", nil, 0, 0, ErrNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := NewMaker().Make(t.Context(), bytes.NewReader(tt.data))
			if !errors.Is(err, tt.err) || p.Width != tt.width || p.Height != tt.height {
				t.Fatalf("%dx%d, %v; want %dx%d, %v", p.Width, p.Height, err, tt.width, tt.height, tt.err)
			}
			if tt.name == "transparent" {
				img, _ := jpeg.Decode(bytes.NewReader(p.JPEG))
				if r, _, _, _ := img.At(2, 2).RGBA(); r < 0xf000 {
					t.Error("what was transparent is not white")
				}
			}
		})
	}
	large := append([]byte("\xff\xd8\xff"), make([]byte, MaxSource)...)
	if _, err := NewMaker().Make(t.Context(), bytes.NewReader(large)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
}

// bomb is a PNG image that says it has more pixels than it has.
func bomb(tb testing.TB, w, h uint32) []byte {
	tb.Helper()
	data := encoded(tb, "png", marked(8, 8))
	binary.BigEndian.PutUint32(data[16:], w)
	binary.BigEndian.PutUint32(data[20:], h)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// While an image is being made others wait, until their contexts end.
func TestOneImageAtATime(t *testing.T) {
	m := NewMaker()
	m.slot <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Make(ctx, strings.NewReader("")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

func folderOf(key messages.ChatKey) (string, error) { return "results/" + string(key), nil }

// A chat reaches its own pictures alone, and only with the bytes that were stored.
func TestShelf(t *testing.T) {
	root := filepath.Join(t.TempDir(), "files")
	s := NewShelf(tool.ChatFiles{Root: root, Folder: folderOf})
	p, err := s.Keep(t.Context(), "a", bytes.NewReader(encoded(t, "png", marked(30, 20))))
	stdtest.Must(t, err)
	again, err := s.Keep(t.Context(), "a", bytes.NewReader(encoded(t, "png", marked(30, 20))))
	if err != nil || again != p {
		t.Errorf("the same picture is %+v, %v, want %+v", again, err, p)
	}
	data, err := s.Load(t.Context(), p.Link("a"))
	if err != nil || int64(len(data)) != p.Bytes {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	doc, err := s.Keep(t.Context(), "a", strings.NewReader("%PDF-1.7"))
	if err != nil || doc.Mime != messages.MimePDF {
		t.Errorf("%+v, %v", doc, err)
	}
	stdtest.Must(t, os.WriteFile(filepath.Join(root, "results", "a", "secret.jpg"), []byte("x"), 0o600))
	stdtest.Must(t, os.Symlink("secret.jpg", filepath.Join(root, "results", "a", "picture-x.jpg")))
	for name, link := range map[string]string{
		"another chat": p.Link("b"), "another file": messages.Picture{Path: "results/a/secret.jpg"}.Link("a"), "a link": messages.Picture{Path: "results/a/picture-x.jpg"}.Link("a"),
		"a way out": messages.Picture{Path: "results/a/../b/picture-x.jpg"}.Link("a"), "no link": "https://example.org/picture-x.jpg", "nothing": "ship-file:a/",
	} {
		if _, err := s.Load(t.Context(), link); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	stdtest.Must(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(p.Path)), []byte("\xff\xd8\xffother"), 0o600))
	if _, err := s.Load(t.Context(), p.Link("a")); err == nil {
		t.Error("a picture that was changed was read")
	}
}

func FuzzDecode(f *testing.F) {
	for _, kind := range []string{"png", "gif", "jpg"} {
		f.Add(encoded(f, kind, marked(16, 12)))
	}
	f.Add(withEXIF(encoded(f, "jpg", marked(16, 12)), binary.LittleEndian, 6))
	f.Add(bomb(f, 1<<31-1, 1<<31-1))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil && cfg.Width*cfg.Height > 1<<20 && cfg.Width*cfg.Height <= maxPixels {
			t.Skip("large, and slow")
		}
		p, err := decode(data)
		if err != nil {
			return
		}
		cfg, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG))
		if err != nil || cfg.Width != p.Width || cfg.Height != p.Height || max(p.Width, p.Height) > MaxSide || min(p.Width, p.Height) < 1 {
			t.Errorf("a picture of %dx%d, said to be %dx%d: %v", cfg.Width, cfg.Height, p.Width, p.Height, err)
		}
	})
}

// A pixel of a smaller image is the average of its area, also where the areas cut pixels of the large image.
func TestSmallerImagesAreAverages(t *testing.T) {
	for _, tt := range []struct {
		w, h, x, y int
		want       uint8
	}{
		{2 * MaxSide, 4, 700, 1, 127},                // a black and a white column each
		{MaxSide + MaxSide/2, 3, 0, 0, 85},           // a whole black column and half a white one, of 1.5
		{MaxSide + MaxSide/2, 3, 1, 0, 255},          // half a white column and a whole one
		{MaxSide, 1, 1, 0, 255},                      // as it is
		{100 * MaxSide, 50, MaxSide - 1, 0, 255 / 2}, // long and narrow
	} {
		img := image.NewGray(image.Rect(10, 20, 10+tt.w, 20+tt.h))
		for y := range tt.h {
			for x := range tt.w {
				black := x%2 == 0
				if tt.w == MaxSide+MaxSide/2 {
					black = x%3 == 0
				}
				if !black {
					img.SetGray(10+x, 20+y, color.Gray{Y: 255})
				}
			}
		}
		if got := scaled(img).RGBAAt(tt.x, tt.y); got != (color.RGBA{tt.want, tt.want, tt.want, 255}) {
			t.Errorf("%d×%d: pixel %d,%d is %v, want %d", tt.w, tt.h, tt.x, tt.y, got, tt.want)
		}
	}
}

func BenchmarkScaled(b *testing.B) {
	img := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	b.ReportAllocs()
	for b.Loop() {
		scaled(img)
	}
}
