package topology

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// maxColumns is more chunks than a bucket has.
const maxColumns = 8 * bucketTarget

// errColumns says that what is read is no chunk map.
var errColumns = errors.New("this is not a saved chunk map")

// WriteColumns writes a map as it is in memory, bucket by bucket and column by column: ReadColumns copies it, and makes
// no chunk of it. All numbers are little endian.
func (m *ChunkMap) WriteColumns(w *bufio.Writer) error {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, uint16(len(m.names)))
	for _, name := range m.names {
		b = append(le.AppendUint16(b, uint16(len(name))), name...)
	}
	b = le.AppendUint32(b, uint32(len(m.buckets)))
	for _, c := range m.buckets {
		b = le.AppendUint32(b, uint32(c.len()))
		b = le.AppendUint32(b, c.width)
		b = le.AppendUint32(b, uint32(len(c.arena)))
		b = append(b, c.arena...)
		for _, end := range c.ends {
			b = le.AppendUint32(b, end)
		}
		for i, shard := range c.shards {
			b = le.AppendUint16(b, shard)
			b = le.AppendUint32(le.AppendUint32(b, c.versions[i].Major), c.versions[i].Minor)
			b = le.AppendUint32(le.AppendUint32(b, c.since[i].T), c.since[i].I)
		}
		b = append(b, boolByte(c.jumbo != nil))
		if c.jumbo != nil {
			for _, word := range c.jumbo[:(c.len()+63)/64] {
				b = le.AppendUint64(b, word)
			}
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write(b)
	return err
}

func boolByte(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// ReadColumns reads a map that WriteColumns wrote, of a collection with this shard key. What cannot be a chunk map is
// refused; whether the bytes are those that were written, the caller has to know. left is how many bytes there are, so
// that a damaged length takes no memory.
func ReadColumns(in *bufio.Reader, left *int64, p shardkey.Pattern) (*ChunkMap, error) {
	r := columnReader{in: in, left: left}
	m := &ChunkMap{pattern: p, max: p.Max()}
	for n := int(r.u16()); n > 0 && r.err == nil; n-- {
		m.names = append(m.names, string(r.take(int(r.u16()))))
	}
	m.counts = make([]int, len(m.names))
	end := "" // the lower bound before
	var buckets []*bucket
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		b := r.bucket(m)
		if r.err != nil {
			break
		}
		for i := range b.len() {
			at := b.encoded(i)
			if first := len(buckets) == 0 && i == 0; first && at != p.Min().Encoded() || !first && at <= end {
				return nil, errColumns
			}
			end = at
		}
		buckets = append(buckets, b)
	}
	if r.err != nil {
		return nil, r.err
	}
	if len(buckets) == 0 || end >= m.max.Encoded() {
		return nil, errColumns
	}
	m.adopt(buckets)
	return m, nil
}

// columnReader reads numbers and bytes; after the first error all are zero.
type columnReader struct {
	in   *bufio.Reader
	left *int64
	buf  []byte
	err  error
}

// take is the next n bytes, until the next call.
func (r *columnReader) take(n int) []byte {
	if r.err == nil && int64(n) > *r.left {
		r.err = io.ErrUnexpectedEOF
	}
	if r.err != nil {
		return nil
	}
	*r.left -= int64(n)
	if n > cap(r.buf) {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	if _, r.err = io.ReadFull(r.in, b); r.err != nil {
		return nil
	}
	return b
}

func (r *columnReader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *columnReader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// bucket reads one bucket and counts its chunks in.
func (r *columnReader) bucket(m *ChunkMap) *bucket {
	const row = 2 + 8 + 8
	n, width, arena := int(r.u32()), r.u32(), r.u32()
	if r.err == nil && (n == 0 || n > maxColumns || arena > math.MaxInt32 || width > 0 && uint64(width)*uint64(n) != uint64(arena)) {
		r.err = errColumns
	}
	if r.err != nil {
		return nil
	}
	b := &bucket{width: width, arena: string(r.take(int(arena)))}
	le := binary.LittleEndian
	if width == 0 {
		at := uint32(0)
		ends := r.take(8 * n)
		b.ends = make([]uint32, len(ends)/4)
		for i := range b.ends {
			b.ends[i] = le.Uint32(ends[4*i:])
			if b.ends[i] < at {
				r.err = errColumns
			}
			at = b.ends[i]
		}
		if r.err == nil && at != arena {
			r.err = errColumns
		}
	}
	rows := r.take(row * n)
	if rows == nil {
		return nil
	}
	b.shards, b.versions, b.since = make([]uint16, n), make([]Version, n), make([]bson.Timestamp, n)
	for i := range n {
		c := rows[row*i:][:row]
		b.shards[i] = le.Uint16(c)
		b.versions[i] = Version{le.Uint32(c[2:]), le.Uint32(c[6:])}
		b.since[i] = bson.Timestamp{T: le.Uint32(c[10:]), I: le.Uint32(c[14:])}
		if int(b.shards[i]) >= len(m.names) {
			r.err = errColumns
			return nil
		}
		m.counts[b.shards[i]]++
		if m.highest.Less(b.versions[i]) {
			m.highest = b.versions[i]
		}
	}
	if flagged := r.take(1); flagged != nil && flagged[0] != 0 {
		words := r.take(8 * ((n + 63) / 64))
		b.jumbo = make([]uint64, len(words)/8)
		for i := range b.jumbo {
			b.jumbo[i] = le.Uint64(words[8*i:])
		}
		for i := range n {
			if r.err == nil && b.isJumbo(i) {
				m.jumbo++
			}
		}
	}
	return b
}
