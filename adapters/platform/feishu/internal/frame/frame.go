package frame

import (
	"errors"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// MethodData is the method of frames that carry events; the others keep the connection alive.
const MethodData = 1

var errFrame = errors.New("a frame of the long connection cannot be read")

// Frame is a message of the long connection, pbbp2.Frame.
type Frame struct {
	seq, log        uint64
	Service, Method int32
	Headers         [][2]string
	Payload         []byte
	rest            []byte // other fields, unchanged
}

// Numbers of the fields.
const (
	fieldSeq     = protowire.Number(1)
	fieldLog     = protowire.Number(2)
	fieldService = protowire.Number(3)
	fieldMethod  = protowire.Number(4)
	fieldHeader  = protowire.Number(5)
	fieldPayload = protowire.Number(8)
)

// Header returns the value of a header, or an empty string.
func (f Frame) Header(name string) string {
	for _, h := range f.Headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// number returns a header as a number, or 0 if it is not one.
func (f Frame) number(name string) int {
	n, err := strconv.Atoi(f.Header(name))
	if err != nil {
		return 0
	}
	return n
}

// Encode returns the frame in the encoding of the service.
func (f Frame) Encode() []byte {
	var b []byte
	number := func(field protowire.Number, v uint64) {
		b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
	}
	number(fieldSeq, f.seq)
	number(fieldLog, f.log)
	number(fieldService, uint64(int64(f.Service))) //nolint:gosec // as the format wants negative numbers
	number(fieldMethod, uint64(int64(f.Method)))   //nolint:gosec // likewise
	for _, h := range f.Headers {
		inner := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), h[0])
		inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), h[1])
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldHeader, protowire.BytesType), inner)
	}
	if f.Payload != nil {
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldPayload, protowire.BytesType), f.Payload)
	}
	return append(b, f.rest...)
}

// Decode decodes a frame.
func Decode(b []byte) (Frame, error) {
	var f Frame
	if err := fields(b, f.take); err != nil {
		return Frame{}, err
	}
	return f, nil
}

// fields passes the fields of a message to take, with their tags in whole.
func fields(b []byte, take func(num protowire.Number, kind protowire.Type, value, whole []byte) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errFrame
		}
		size := protowire.ConsumeFieldValue(num, kind, b[n:])
		if size < 0 {
			return errFrame
		}
		if err := take(num, kind, b[n:n+size], b[:n+size]); err != nil {
			return err
		}
		b = b[n+size:]
	}
	return nil
}

// take reads one field; whole includes its tag.
func (f *Frame) take(num protowire.Number, kind protowire.Type, value, whole []byte) error {
	v, _ := protowire.ConsumeVarint(value)
	raw, _ := protowire.ConsumeBytes(value)
	switch {
	case kind == protowire.VarintType && num == fieldSeq:
		f.seq = v
	case kind == protowire.VarintType && num == fieldLog:
		f.log = v
	case kind == protowire.VarintType && num == fieldService:
		f.Service = int32(v) //nolint:gosec // as the format writes it
	case kind == protowire.VarintType && num == fieldMethod:
		f.Method = int32(v) //nolint:gosec // likewise
	case kind == protowire.BytesType && num == fieldHeader:
		h, err := decodeHeader(raw)
		if err != nil {
			return err
		}
		f.Headers = append(f.Headers, h)
	case kind == protowire.BytesType && num == fieldPayload:
		f.Payload = raw
	default:
		f.rest = append(f.rest, whole...)
	}
	return nil
}

func decodeHeader(b []byte) (h [2]string, err error) {
	err = fields(b, func(num protowire.Number, kind protowire.Type, value, _ []byte) error {
		if kind == protowire.BytesType && (num == 1 || num == 2) {
			h[num-1], _ = protowire.ConsumeString(value)
		}
		return nil
	})
	return h, err
}
