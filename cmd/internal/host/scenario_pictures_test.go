package host

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// sized is the name of an image of a script: cat-640x480.png.
var sized = regexp.MustCompile(`(\d+)x(\d+)\.(jpg|png|gif|pdf)$`)

// contentOf is what the file of a script holds: an image of the size in its name, a
// document, or plain words.
func contentOf(name string) []byte {
	m := sized.FindStringSubmatch(name)
	if path.Ext(name) == ".pdf" && m == nil && strings.HasPrefix(name, "true") {
		return []byte("%PDF-1.7\n" + name)
	}
	if m == nil {
		return []byte("content of " + name)
	}
	w, _ := strconv.Atoi(m[1])
	h, _ := strconv.Atoi(m[2])
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White, color.RGBA{200, 30, byte(len(name)), 255}})
	for i := range img.Pix {
		img.Pix[i] = byte((i + i/w) % 3)
	}
	var out bytes.Buffer
	switch m[3] {
	case "png":
		_ = png.Encode(&out, img)
	case "gif":
		_ = gif.Encode(&out, img, nil)
	default:
		_ = jpeg.Encode(&out, img, nil)
	}
	return out.Bytes()
}

// sticker makes a sticker of a file: one that moves has a picture, or none.
func (s *scene) sticker(file map[string]any, id, image string) {
	switch {
	case image == "moving":
		file["is_video"] = true
	case strings.HasPrefix(image, "moving-"):
		content := contentOf(image)
		file["is_animated"], file["thumbnail"] = true, s.p.api.AddFileAs("thumb-"+id, "thumbnails/"+id, int64(len(content)), content)
	}
}

// showFile is a file as the model is shown it: what it is, and its size as the bytes tell.
func (s *scene) showFile(f modelmessage.File) string {
	_, name, ok := messages.PictureOf(f.Data)
	if !ok {
		return "file " + f.MediaType
	}
	data, err := os.ReadFile(filepath.Join(s.p.dir, ".ship", "files", filepath.FromSlash(name)))
	if err != nil {
		return "lost file"
	}
	called := ""
	if f.Filename.Set {
		called = " " + f.Filename.Value
	}
	if cfg, kind, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		return fmt.Sprintf("<%s%s %dx%d>", kind, called, cfg.Width, cfg.Height)
	}
	return fmt.Sprintf("<%s%s>", f.MediaType, called)
}

// fixPNG gives the header of a PNG image that was changed its checksum.
func fixPNG(data []byte) {
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
}
