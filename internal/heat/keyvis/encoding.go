package keyvis

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// packCells encodes rows with writes as pairs: distance to the previous row, writes. Hundreds of columns are held for
// weeks, so the result is as long as it must be.
func packCells(sums map[int]int64) []byte {
	var out []byte
	at := 0
	for _, row := range slices.Sorted(maps.Keys(sums)) {
		if sums[row] == 0 {
			continue
		}
		out = binary.AppendUvarint(out, uint64(row-at))
		out = binary.AppendUvarint(out, uint64(sums[row]))
		at = row
	}
	return bytes.Clone(out)
}

func eachCell(b []byte, f func(row int, rows int64)) {
	row := uint64(0)
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		rows, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 {
			return // valid data was checked when it was loaded
		}
		b = b[n+m:]
		row += step
		f(int(row), int64(rows))
	}
}

func appendProject(b []byte, id bson.ObjectID, rows int64) []byte {
	return binary.AppendUvarint(append(b, id[:]...), uint64(rows))
}

func eachProject(b []byte, f func(id bson.ObjectID, rows int64)) {
	for len(b) > 12 {
		rows, n := binary.Uvarint(b[12:])
		if n <= 0 {
			return
		}
		f(bson.ObjectID(b[:12]), int64(rows))
		b = b[12+n:]
	}
}

var errPacked = errors.New("not a packed column")

// format is the first byte of stored data; other formats are not read.
const format = 1

const (
	flagSampled = 1 << iota
	flagCapped
	flagShared
	flagHottest
)

// pack encodes a column for the store.
func (c *column) pack() []byte {
	flags := byte(0)
	for bit, is := range map[byte]bool{flagSampled: c.Sampled, flagCapped: c.Capped, flagShared: c.Shared, flagHottest: c.Hottest} {
		if is {
			flags |= bit
		}
	}
	out := []byte{format, flags}
	out = binary.AppendUvarint(out, uint64(c.Covered/time.Millisecond))
	out = binary.AppendUvarint(out, uint64(c.Astray))
	return append(out, c.cells...)
}

// unpackColumn decodes a column; its axis and time are stored beside it.
func unpackColumn(b []byte) (*column, error) {
	if len(b) < 4 || b[0] != format {
		return nil, errPacked
	}
	c := &column{}
	c.Sampled, c.Capped, c.Shared = b[1]&flagSampled != 0, b[1]&flagCapped != 0, b[1]&flagShared != 0
	c.Hottest = b[1]&flagHottest != 0
	rest := b[2:]
	covered, n := binary.Uvarint(rest)
	if n <= 0 {
		return nil, errPacked
	}
	astray, m := binary.Uvarint(rest[n:])
	if m <= 0 {
		return nil, errPacked
	}
	c.Covered, c.Astray = time.Duration(covered)*time.Millisecond, int64(astray)
	c.cells = slices.Clone(rest[n+m:])
	return c, nil
}

// pack encodes an axis for the store: for each bound the part that differs from the previous one,
// compressed.
func (a *axis) pack() []byte {
	var plain []byte
	before := ""
	for _, b := range a.bounds {
		enc := b.Encoded()
		same := 0
		for same < min(len(before), len(enc)) && before[same] == enc[same] {
			same++
		}
		plain = binary.AppendUvarint(plain, uint64(same))
		plain = appendText(plain, enc[same:])
		plain = appendText(plain, b.Bits())
		before = enc
	}
	var out bytes.Buffer
	out.WriteByte(format)
	z, _ := flate.NewWriter(&out, flate.BestCompression) // the level is valid
	_, _ = z.Write(plain)                                // a bytes.Buffer does not fail
	_ = z.Close()
	return out.Bytes()
}

// largestAxis bounds the decompressed size; a bound has at most a few kilobytes.
const largestAxis = 64 << 20

func unpackAxis(id int64, b []byte) (*axis, error) {
	if len(b) < 2 || b[0] != format {
		return nil, errPacked
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[1:])), largestAxis))
	if err != nil {
		return nil, fmt.Errorf("unpack axis: %w", err)
	}
	a := &axis{id: id, saved: true}
	before := ""
	for len(plain) > 0 {
		same, n := binary.Uvarint(plain)
		if n <= 0 || same > uint64(len(before)) {
			return nil, errPacked
		}
		suffix, rest, ok := cutText(plain[n:])
		if !ok {
			return nil, errPacked
		}
		bits, rest, ok := cutText(rest)
		if !ok {
			return nil, errPacked
		}
		plain, before = rest, before[:same]+suffix
		k := shardkey.FromParts(before, bits)
		if last := len(a.bounds); last > 0 && a.bounds[last-1].Compare(k) >= 0 {
			return nil, errPacked
		}
		a.bounds = append(a.bounds, k)
	}
	if len(a.bounds) == 0 || len(a.bounds) > MaxRows {
		return nil, errPacked
	}
	return a, nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func cutText(b []byte) (s string, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return "", nil, false
	}
	return string(b[n : n+int(size)]), b[n+int(size):], true
}

// valid reports whether a column's cells fit its axis.
func (c *column) valid() bool {
	b, rows := c.cells, 0
	if c.axis == nil {
		for len(b) > 0 {
			if len(b) < 13 {
				return false
			}
			_, n := binary.Uvarint(b[12:])
			if n <= 0 {
				return false
			}
			b = b[12+n:]
		}
		return true
	}
	for len(b) > 0 {
		step, n := binary.Uvarint(b)
		if n <= 0 || step > MaxRows {
			return false
		}
		_, m := binary.Uvarint(b[n:])
		if m <= 0 {
			return false
		}
		b, rows = b[n+m:], rows+int(step)
	}
	return rows < len(c.axis.bounds)
}
