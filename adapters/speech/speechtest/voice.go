package speechtest

import "encoding/binary"

// Voice returns a silent voice message, Opus in Ogg, with the given number of packets of 20 ms.
func Voice(packets int) []byte {
	var out []byte
	page := func(flags byte, seq uint32, granule uint64, bodies ...[]byte) {
		head := make([]byte, 27, 27+len(bodies))
		copy(head, "OggS")
		head[5], head[26] = flags, byte(len(bodies))
		binary.LittleEndian.PutUint64(head[6:], granule)
		binary.LittleEndian.PutUint32(head[14:], 1)
		binary.LittleEndian.PutUint32(head[18:], seq)
		var data []byte
		for _, b := range bodies {
			head, data = append(head, byte(len(b))), append(data, b...)
		}
		data = append(head, data...)
		binary.LittleEndian.PutUint32(data[22:], checksum(data))
		out = append(out, data...)
	}
	page(0x02, 0, 0, []byte("OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00"))
	page(0, 1, 0, []byte("OpusTags\x04\x00\x00\x00none\x00\x00\x00\x00"))
	seq := uint32(2)
	for done := 0; done < packets; seq++ {
		n := min(50, packets-done)
		bodies := make([][]byte, n)
		for i := range bodies {
			bodies[i] = []byte{0xf8, 0xff, 0xfe} // 20 ms of silence
		}
		done += n
		flags := byte(0)
		if done == packets {
			flags = 0x04
		}
		page(flags, seq, uint64(done)*960, bodies...)
	}
	return out
}

func checksum(page []byte) uint32 {
	var sum uint32
	for _, b := range page {
		sum ^= uint32(b) << 24
		for range 8 {
			if sum&(1<<31) != 0 {
				sum = sum<<1 ^ 0x04c11db7
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}
