package history

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// The full state of a collection is written and read chunk by chunk: as a list of rows, ten
// million chunks would take gigabytes for a moment.

// packedChunk is about how many bytes a packed chunk takes.
const packedChunk = 9

// packChunks is the packed body of a whole map, as encodeChunks and pack would make it.
func packChunks(m *topology.ChunkMap) []byte {
	out := bytes.NewBuffer(make([]byte, 0, m.Len()*packedChunk+64)) // growing by doubling would take three times as much
	out.WriteByte(deflated)
	w, err := flate.NewWriter(out, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is constant
	}
	names := m.ShardNames()
	b := binary.AppendUvarint(nil, uint64(len(names)))
	for _, n := range names {
		b = appendText(b, n)
	}
	b = binary.AppendUvarint(b, uint64(m.Len()))
	var end shardkey.Key
	for i, c := range m.All() {
		b = appendChunk(b, c, i > 0 && end == c.Min, slices.Index(names, c.Shard))
		end = c.Max
		if len(b) > 32<<10 {
			_, _ = w.Write(b) // a bytes.Buffer does not fail
			b = b[:0]
		}
	}
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// unpackChunks makes the map of a full state.
func unpackChunks(p shardkey.Pattern, body []byte) (*topology.ChunkMap, error) {
	in, err := openBody(body)
	if err != nil {
		return nil, err
	}
	r := rowReader{in: bufio.NewReaderSize(in, 32<<10)}
	names := make([]string, 0, 16)
	for n := r.number(); n > 0 && r.err == nil; n-- {
		names = append(names, string(r.text(nil)))
	}
	b := topology.NewChunkBuilder(p)
	var row topology.ChunkRow
	for n := r.number(); n > 0 && r.err == nil; n-- {
		if r.row(&row, names); r.err == nil {
			r.err = b.Add(&row)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return b.Finish(nil)
}

// openBody unpacks a body while it is read.
func openBody(b []byte) (io.Reader, error) {
	switch {
	case len(b) == 0:
		return nil, fmt.Errorf("unpack: %w", errShort)
	case b[0] == plain:
		return bytes.NewReader(b[1:]), nil
	case b[0] != deflated:
		return nil, fmt.Errorf("unpack: body of kind %d", b[0])
	}
	return flate.NewReader(bytes.NewReader(b[1:])), nil
}

// rowReader decodes rows; after the first error all values are zero.
type rowReader struct {
	in  *bufio.Reader
	err error
}

func (r *rowReader) row(row *topology.ChunkRow, names []string) {
	flags := r.byte()
	row.Jumbo = flags&flagJumbo != 0
	if flags&flagJoined != 0 {
		row.Min, row.Max = row.Max, row.Min
	} else {
		r.bound(&row.Min)
	}
	r.bound(&row.Max)
	shard := r.number()
	if shard >= uint64(len(names)) {
		r.fail(errShort)
		return
	}
	row.Shard = names[shard]
	row.Version = topology.Version{Major: uint32(r.number()), Minor: uint32(r.number())}
	row.Since = bson.Timestamp{T: uint32(r.number()), I: uint32(r.number())}
}

func (r *rowReader) bound(b *topology.Bound) {
	b.Encoded = r.text(b.Encoded[:0])
	b.Bits = r.text(b.Bits[:0])
}

func (r *rowReader) fail(err error) {
	if r.err != nil {
		return
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
	}
	r.err = fmt.Errorf("decode chunks: %w", err)
}

func (r *rowReader) byte() byte {
	if r.err != nil {
		return 0
	}
	b, err := r.in.ReadByte()
	if err != nil {
		r.fail(err)
	}
	return b
}

func (r *rowReader) number() uint64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		r.fail(err)
		return 0
	}
	return n
}

// maxText is more than a bound or a name can have.
const maxText = 16 << 20

// text reads a text into dst.
func (r *rowReader) text(dst []byte) []byte {
	n := r.number()
	if n > maxText {
		r.fail(errShort)
	}
	if r.err != nil {
		return dst
	}
	// A damaged length must not allocate what the body does not have.
	for n > 0 {
		part := int(min(n, 4096))
		at := len(dst)
		dst = slices.Grow(dst, part)[:at+part]
		if _, err := io.ReadFull(r.in, dst[at:]); err != nil {
			r.fail(err)
			return dst[:at]
		}
		n -= uint64(part)
	}
	return dst
}
