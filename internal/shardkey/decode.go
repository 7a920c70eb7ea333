package shardkey

import (
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// value appends the bytes of the next value to dst.
func (d *decoder) value(dst []byte, depth int) (bson.Type, []byte, error) {
	class, err := d.byte()
	if err != nil {
		return 0, nil, err
	}
	if class >= classNaN && class <= classInf {
		return d.number(dst, class)
	}
	switch class {
	case classMinKey:
		return bson.TypeMinKey, dst, nil
	case classUndefined:
		return bson.TypeUndefined, dst, nil
	case classNull:
		return bson.TypeNull, dst, nil
	case classMaxKey:
		return bson.TypeMaxKey, dst, nil
	case classString:
		t := bson.TypeString
		switch d.token() {
		case bitsString:
		case bitsSymbol:
			t = bson.TypeSymbol
		default:
			return 0, nil, errEncoding
		}
		dst, err = d.text(dst)
		return t, dst, err
	case classCode:
		dst, err = d.text(dst)
		return bson.TypeJavaScript, dst, err
	case classObject:
		dst, err = d.document(dst, depth)
		return bson.TypeEmbeddedDocument, dst, err
	case classArray:
		dst, err = d.document(dst, depth)
		return bson.TypeArray, dst, err
	case classCodeWithScope:
		start := len(dst)
		if dst, err = d.text(append(dst, 0, 0, 0, 0)); err != nil {
			return 0, nil, err
		}
		if dst, err = d.document(dst, depth); err != nil {
			return 0, nil, err
		}
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
		return bson.TypeCodeWithScope, dst, nil
	case classObjectID:
		dst, err = d.take(dst, 12)
		return bson.TypeObjectID, dst, err
	case classBool:
		dst, err = d.take(dst, 1)
		if err == nil && dst[len(dst)-1] > 1 {
			err = errEncoding
		}
		return bson.TypeBoolean, dst, err
	case classDate:
		v, err := d.uint64()
		return bson.TypeDateTime, binary.LittleEndian.AppendUint64(dst, v^1<<63), err
	case classTimestamp:
		v, err := d.uint64()
		return bson.TypeTimestamp, binary.LittleEndian.AppendUint64(dst, v), err
	case classRegex:
		for range 2 {
			end := strings.IndexByte(d.enc, 0)
			if end < 0 {
				return 0, nil, errEncoding
			}
			dst = append(dst, d.enc[:end+1]...)
			d.enc = d.enc[end+1:]
		}
		return bson.TypeRegex, dst, nil
	case classBinary:
		dst, err = d.sized(dst, 1)
		return bson.TypeBinary, dst, err
	case classDBPointer:
		start := len(dst)
		if dst, err = d.sized(dst, 12); err != nil {
			return 0, nil, err
		}
		if n, err := valueSize(bson.TypeDBPointer, dst[start:]); err != nil || n != len(dst)-start {
			return 0, nil, errEncoding
		}
		return bson.TypeDBPointer, dst, nil
	}
	return 0, nil, errEncoding
}

// sized reads a big-endian length, that many bytes, and extra more.
func (d *decoder) sized(dst []byte, extra int) ([]byte, error) {
	if len(d.enc) < 4 {
		return nil, errEncoding
	}
	n := uint32(d.enc[0])<<24 | uint32(d.enc[1])<<16 | uint32(d.enc[2])<<8 | uint32(d.enc[3])
	d.enc = d.enc[4:]
	if uint64(n)+uint64(extra) > uint64(len(d.enc)) {
		return nil, errEncoding
	}
	return d.take(binary.LittleEndian.AppendUint32(dst, n), int(n)+extra)
}

// text decodes an escaped string and appends it with length and terminator.
func (d *decoder) text(dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for {
		end := strings.IndexByte(d.enc, 0)
		if end < 0 || end+1 >= len(d.enc) {
			return nil, errEncoding
		}
		dst = append(dst, d.enc[:end+1]...) // with the NUL: data or terminator
		mark := d.enc[end+1]
		d.enc = d.enc[end+2:]
		switch mark {
		case 0xff:
		case 0:
			binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
			return dst, nil
		default:
			return nil, errEncoding
		}
	}
}

func (d *decoder) document(dst []byte, depth int) ([]byte, error) {
	if depth >= maxDepth {
		return nil, errDeep
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for {
		class, err := d.byte()
		if err != nil {
			return nil, err
		}
		if class == classEnd {
			dst = append(dst, 0)
			binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
			return dst, nil
		}
		end := strings.IndexByte(d.enc, 0)
		if end < 0 {
			return nil, errEncoding
		}
		at := len(dst)
		dst = append(append(dst, 0), d.enc[:end+1]...)
		d.enc = d.enc[end+1:]
		t, out, err := d.value(dst, depth+1)
		if err != nil {
			return nil, err
		}
		if c, _ := classOf(t); c != class {
			return nil, errEncoding
		}
		dst = out
		dst[at] = byte(t)
	}
}
